// Groups that cannot be meant, and values that cannot be read. The scenarios have the rest.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { On, RequestEvent } from '../src/index.js';
import { Client, HandlerSocketError, MAX_GROUP } from '../src/index.js';
import { echo } from './answering-server.js';
import { kindOf, rowsOf, using } from './client-kit.js';
import { PlayedPort, Signals } from './played-server.js';

const index = { database: 'db', table: 't', columns: { a: 'number', b: 'string?' } } as const;

suite('groups', () => {
  test('what cannot be meant is refused, and nothing is sent', async () => {
    const client = new Client({ host: '192.0.2.1', port: 1, portWr: 2 });
    const t = client.index(index);
    const wrong: [string, (on: On) => unknown][] = [
      ['a find meets nothing', (on) => on.some(t).findOne(1)],
      ['an insert meets nothing', (on) => on.none(t).insert([1])],
      ['an in without values', (on) => on.some(t).delete([], { in: { values: [] } })],
      ['a time-out of its own', (on) => on(t).delete(1, { timeout: 1 })],
      ['a column that there is not', (on) => on(t).update(1, { c: 1 } as never)],
      ['a lock elsewhere', () => t.lock(1)],
    ];
    for (const [why, add] of wrong) {
      let fine: Promise<unknown> | undefined;
      const group = client.group((on) => [(fine = on(t).delete(1)), add(on)]);
      await assert.rejects(group, (error) => error instanceof HandlerSocketError && error.kind === 'usage', why);
      await assert.rejects(fine!, { kind: 'usage' }, why);
    }
    await assert.rejects(
      client.group((on) => Array.from({ length: MAX_GROUP + 1 }, () => on(t).delete(1))),
      /at most/,
    );
    await assert.rejects(
      client.group((on) => (void on(t).delete(1), [])),
      /all its requests/,
    );
    await assert.rejects(
      client.group(() => {
        throw new TypeError('not this one');
      }),
      TypeError,
    );
    assert.deepEqual(await client.group((on) => [on(t).findIn([]), on(t).exists(1, { in: { values: [] } })]), [[], false]);
    assert.equal(client.counters.connectionsMade, 0);
    await client.close();
  });

  test('what its own on has not given is refused, and the group is not sent', async () => {
    await using(echo, {}, async (client, server) => {
      const t = client.index(index);
      const foreign: [string, (on: On) => unknown][] = [
        ['a plain call', () => t.findOne(9)],
        ['a plain call that fails', () => t.findOne([])],
        ['a plain call that sends nothing', () => t.findIn([])],
        ['a number', () => 17],
        ['a text', () => 'x'],
        ['nothing', () => undefined],
        ['what is made of a request', (on) => on(t).delete(1).then(String)],
      ];
      for (const [why, element] of foreign) {
        await assert.rejects(
          client.group((on) => [on.some(t).decrement(1, { a: 5 }), element(on)]),
          { kind: 'usage', sent: false, message: /^element 1 of the array/ },
          why,
        );
      }
      let other: Promise<unknown> | undefined;
      await client.group((on) => [(other = on(t).findIn([]))]);
      await assert.rejects(
        client.group((on) => [on(t).delete(1), other]),
        { kind: 'usage' },
      );
      assert.ok(!server.lines.some((line) => line.startsWith('G') || line.endsWith('\tD') || line.includes('\t-')));
    });
  });

  test('a value that cannot be read is the error of its request alone', async () => {
    const port = new PlayedPort(
      [
        [
          { expect: 'P\t1\tdb\tt\tPRIMARY\ta,b\nP\t2\tdb\tt\tPRIMARY\ta\nG\t2\n1\t=\t1\t1\n2\t+\t1\t7\n' },
          { send: '0\t1\n0\t1\n0\t1\n0\t2\tx\ty\n0\t1\t7\n' },
        ],
      ],
      -1,
      new Signals(),
    );
    await port.listen();
    const told: RequestEvent[] = [];
    const client = new Client({ host: '127.0.0.1', portWr: port.port!, hooks: { request: (event) => told.push(event) } });
    const t = client.index(index);
    let inserted: Promise<bigint | null> | undefined;
    await assert.rejects(
      client.group((on) => [on(t).findOne(1), (inserted = on(t).insert({ a: 7 }))]),
      // The group was done, and may not be done again, although its find alone has failed.
      { kind: 'decode', sent: true, maybeExecuted: true, safeToRetry: false },
    );
    assert.equal(await inserted, 7n);
    assert.deepEqual(
      told.map(({ operation, error }) => [operation, error?.kind]),
      [['group', 'decode']],
    );
    assert.equal(client.counters.errors, 1);
    await client.close();
    port.close();
  });

  test('a value that cannot be read in a group that only reads: it can be asked for again', async () => {
    await using(
      (line) => (line.startsWith('G') ? '0\t1\n' : line.startsWith('P') ? undefined : '0\t2\tx\ty\n'),
      {},
      async (client, _, rows) => {
        await assert.rejects(
          client.group((on) => [on(rows).findOne(1)]),
          { kind: 'decode', sent: true, maybeExecuted: false, safeToRetry: true },
        );
      },
    );
  });
});

suite('an index of another client', () => {
  test('is refused by a pipeline and a group, and nothing is sent', async () => {
    await using(echo, {}, async (client, server, rows) => {
      const other = new Client({ host: '192.0.2.1', port: 1, portWr: 2 });
      const foreign = rowsOf(other);
      assert.equal(await kindOf(client.pipeline((on) => [on(rows).findOne(1), on(foreign).findOne(1)])), 'usage');
      assert.equal(await kindOf(client.group((on) => [on(foreign).delete(1)])), 'usage');
      assert.equal(await kindOf(client.group((on) => [on.some(foreign).delete(1)])), 'usage');
      assert.equal(await kindOf(client.group((on) => [on.none(foreign).delete(1)])), 'usage');
      assert.deepEqual(server.lines, []);
      await other.close();
    });
  });
});
