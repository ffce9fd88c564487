// The server's own words for its errors: where they are, and where not. The scenarios have the rest.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { inspect } from 'node:util';
import { ReplyError } from '../src/index.js';
import type { Answer } from './answering-server.js';
import { kindOf, using } from './client-kit.js';
import { pause } from './played-server.js';

const PLACE = { database: 'db', table: 't' } as const;

suite('texts', () => {
  const told = "1\t4\t121\t1062\t23000\tDuplicate entry 'secret' for key 'PRIMARY'\n";
  const answer: Answer = (request) => {
    if (request === 'H\ttexts') return '0\t2\ttexts\t1\n';
    return request.startsWith('P') ? undefined : told;
  };
  const errorOf = (promise: Promise<unknown>): Promise<ReplyError> =>
    promise.then(
      () => assert.fail('it succeeded'),
      (error: ReplyError) => error,
    );

  test('are fields of the error, and not in what is shown of it', async () => {
    const log: string[] = [];
    const logger = { info: (message: string) => log.push(message), warn: (message: string) => log.push(message) };
    await using(answer, { texts: 'on', logger }, async (client, server, rows) => {
      const errors = [await errorOf(rows.insert({ id: 1 })), await errorOf(rows.findOne(1)), await errorOf(client.describe(PLACE))];
      errors.push(await errorOf(rows.iterate(1).next()));
      for (const error of errors) {
        assert.ok(error instanceof ReplyError);
        assert.deepEqual([error.text, error.number, error.sqlState, error.reason], ['121', 1062, '23000', 'duplicate']);
        assert.equal(error.serverMessage, "Duplicate entry 'secret' for key 'PRIMARY'");
        for (const shown of [
          inspect(error, { depth: 9, getters: false }),
          JSON.stringify(error),
          String(error),
          error.stack!,
          ...Object.values(error).map(String),
        ]) {
          assert.doesNotMatch(shown, /secret/);
        }
      }
      assert.doesNotMatch(log.join(), /secret/);
      // Each connection is told once, and in the same bytes as what it was made for.
      assert.equal(server.lines.filter((request) => request === 'H\ttexts').length, 3);
      assert.equal(client.counters.socketWrites, 4);
    });
  });

  test('nothing is said on a connection that has nothing else to say', async () => {
    await using(answer, { texts: 'on' }, async (client, server) => {
      // It is given up before its connection is there.
      const abort = new AbortController();
      const call = client.describe(PLACE, { signal: abort.signal });
      abort.abort();
      await assert.rejects(call, { kind: 'cancelled', sent: false });
      await pause(30);
      assert.equal(client.counters.connectionsMade, 1);
      assert.deepEqual(server.lines, []);
      for (const socket of server.sockets) socket.destroy();
      await pause(30);
      assert.equal(client.counters.connectionsLost, 0);
      assert.equal((await errorOf(client.describe(PLACE))).number, 1062);
      assert.deepEqual(server.lines, ['H\ttexts', 'P\t1\tdb\tt\tPRIMARY\t*', 'D\t1']);
    });
  });

  test('of P, and of a server that answers the hello in another way', async () => {
    for (const hello of ['0\t2\ttexts\t1\n', '0\t2\n', '2\t1\tcmd\n', '3\t1\tunauth\n']) {
      await using(
        (request) =>
          request.startsWith('H')
            ? hello
            : request.startsWith('P')
              ? '1\t4\topen_table\t1146\t42S02\tNo\n'
              : '2\t4\tstmtnum\t1149\t42000\tNo index\n',
        { texts: 'on' },
        async (_, server, rows) => {
          const error = await errorOf(rows.findOne(1));
          assert.deepEqual([error.text, error.number, error.sqlState, error.serverMessage], ['open_table', 1146, '42S02', 'No']);
          assert.equal(server.connections, 1);
        },
      );
    }
    await using(
      (request) => (request.startsWith('H') ? '0\t3\ta\tb\tc\n' : undefined),
      { texts: 'on' },
      async (client, _, rows) => {
        assert.match(await kindOf(rows.findOne(1)), /protocol|lost/);
        assert.equal(client.counters.connectionsLost, 1);
      },
    );
  });

  test('what is no SQL error is as without them', async () => {
    for (const reply of ['1\t4\t121\tx\t23000\tm\n', '1\t3\t121\t1062\t23000\n', '1\t1\t121\n', '1\t2\t121\t7\n']) {
      await using(
        (request) => (request.startsWith('H') ? '0\t2\n' : request.startsWith('P') ? undefined : reply),
        { texts: 'on' },
        async (_, __, rows) => {
          const error = await errorOf(rows.findOne(1));
          assert.deepEqual([error.text, error.number, error.sqlState, error.serverMessage], ['121', 121, '23000', null]);
        },
      );
    }
  });
});
