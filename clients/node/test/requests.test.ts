// What the original does not have, as an application says it: ranges, counts, assignments, several rows.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { HandlerSocketError, assign, range } from '../src/index.js';
import type { Client, Outcome } from '../src/index.js';
import { echo } from './answering-server.js';
import type { Answer } from './answering-server.js';
import { kindOf, using } from './client-kit.js';

const usersOf = (client: Client) =>
  client.index({
    database: 'db',
    table: 't',
    columns: { id: 'number', name: 'string?', visits: 'number', seen: 'datetime.utc' },
    filterColumns: ['age'],
  });
type Users = ReturnType<typeof usersOf>;

/** The requests that a call sends, with the columns of their indexes. */
async function sent(ask: (users: Users) => Promise<unknown>, reply = '0\t1\t1\n'): Promise<{ lines: string[]; value: unknown }> {
  const lines: string[] = [];
  let value: unknown;
  const answer: Answer = (line) => {
    lines.push(line.startsWith('P\t') ? line.split('\t')[5]! : line);
    return line.startsWith('P\t') ? undefined : reply;
  };
  await using(answer, {}, async (client) => {
    value = await ask(usersOf(client));
  });
  return { lines, value };
}

const MINE = 'id,name,visits,seen';
const ONE = '1\t=\t1\t1\t1\t0\t';
const ROW = '0\t4\t1\tAnn\t3\t2024-02-29 12:30:00\n';
const SEEN = new Date('2024-02-29T12:30:00Z');

suite('what is said, and what is sent', () => {
  const cases: [string, (users: Users) => Promise<unknown>, string[], string?][] = [
    ['the whole of an index', (users) => users.find(range()), [MINE, '1\tup\t0'], ROW],
    ['downwards', (users) => users.findOne(range({ key: 4, down: true })), [MINE, '1\tdown\t1\t4'], ROW],
    ['two ends', (users) => users.find(range({ key: [], ge: null, lt: 'b' }), { limit: 3 }), [MINE, '1\tup\t0\t>=\t\0\t<\tb\t3'], ROW],
    ['a prefix', (users) => users.find(range({ prefix: 'a%' })), [MINE, '1\tup\t0\t^\ta%'], ROW],
    [
      'in a range',
      (users) => users.findIn([1, 2], { key: range({ key: [''], gt: 3 }) }),
      [MINE, '1\tup\t1\t\t>\t3\t2\t0\t@\t0\t2\t1\t2'],
      ROW,
    ],
    ['deletion of a range', (users) => users.delete(range({ le: 3 }), { limit: 9 }), [MINE, '1\tup\t0\t<=\t3\t9\t0\tD']],
    ['count', (users) => users.count(range()), [MINE, '1\tup\t0\tC']],
    ['count with a limit', (users) => users.count(1, { op: '>', limit: 5 }), [MINE, '1\t>\t1\t1\t5\tC']],
    ['count in', (users) => users.count([], { in: { values: [1, 2] } }), [MINE, '1\t=\t1\t\t0\t0\t@\t0\t2\t1\t2\tC']],
    ['exists', (users) => users.exists(1, { filters: [['age', '<', 3]] }), [MINE, '1\t=\t1\t1\t1\t0\tF\t<\t0\t3\tE']],
    ['an update as in the original', (users) => users.update(1, { visits: 3 }), ['visits', `${ONE}U\t3`]],
    ['assignments', (users) => users.update(1, { visits: assign.add(3), name: 'a' }), [MINE, `${ONE}set\t2\t2\t+\t3\t1\t=\ta`]],
    ['by position', (users) => users.update(1, [7, assign.default()]), [MINE, `${ONE}set\t2\t0\t=\t7\t1\tdefault\t`]],
    ['as the column is written', (users) => users.update(1, { seen: assign.max(SEEN) }), [MINE, `${ONE}set\t1\t3\tmax\t2024-02-29 12:30:00.000`]],
    [
      'within bounds',
      (users) => users.update(1, { visits: assign.subtract(9, { low: 0 }), name: assign.append('\t') }),
      [MINE, `${ONE}set\t2\t2\t-[\t9\t0\t\0\t1\tappend\t\x01I`],
    ],
    ['rows before', (users) => users.fetchAndUpdate(1, { visits: assign.min(3) }), [MINE, `${ONE}set?\t1\t2\tmin\t3`], ROW],
    ['rows afterwards', (users) => users.updateAndFetch(1, { seen: assign.now() }), [MINE, `${ONE}set!\t1\t3\tnow\t`], ROW],
    ['of an update as in the original', (users) => users.updateAndFetch(1, { id: 3 }), [MINE, `${ONE}U!\t3`], ROW],
    ['of an increment', (users) => users.incrementAndFetch(1, [1]), [MINE, `${ONE}+!\t1`], ROW],
    ['of a decrement', (users) => users.decrementAndFetch(1, [1]), [MINE, `${ONE}-!\t1`], ROW],
    [
      'several rows',
      (users) => users.insertMany([[1, 'a'], [2, null]], { duplicate: 'ignore' }),
      [MINE, '1\tinsert\t2\t2\t1\ta\t2\t\0\telse\tignore'],
      '0\t2\tinserted\t1\tignored\t\0\n',
    ],
    [
      'several rows by name',
      (users) => users.insertMany([{ name: 'a', id: 1 }, { id: 2, name: 'b' }]),
      ['id,name', '1\tinsert\t2\t2\t1\ta\t2\tb'],
      '0\t2\tinserted\t1\tinserted\t2\n',
    ],
    [
      'an upsert',
      (users) => users.upsert({ visits: 1, id: 1 }, { visits: assign.inserted(), name: 'x' }, { filters: [['age', '<', 9]] }),
      ['id,visits,name,seen', '1\tinsert\t1\t2\t1\t1\telse\tupdate\t2\t1\tnew\t\t2\t=\tx\tF\t<\t0\t9'],
      '0\t2\tunmet\t\0\n',
    ],
    [
      'upserts by position',
      (users) => users.upsertMany([[1], [2]], { visits: assign.bitXor(1) }),
      [MINE, '1\tinsert\t2\t1\t1\t2\telse\tupdate\t1\t2\t^\t1'],
      '0\t2\tupdated\t1\tinserted\t2\n',
    ],
  ];
  for (const [name, ask, lines, reply] of cases) {
    test(name, async () => assert.deepEqual((await sent(ask, reply)).lines, lines));
  }
});

suite('what is given', () => {
  test('numbers, truth and outcomes', async () => {
    assert.equal((await sent((users) => users.count(1), '0\t1\t12\n')).value, 12);
    assert.equal((await sent((users) => users.exists(1), '0\t1\t0\n')).value, false);
    const one: Outcome = { done: 'updated', id: 7n };
    assert.deepEqual((await sent((users) => users.upsert([1], { visits: 2 }), '0\t2\tupdated\t7\n')).value, one);
    const many = (await sent((users) => users.insertMany([[1], [2]]), '0\t2\tinserted\t-1\tignored\t\0\n')).value;
    assert.deepEqual(many, [
      { done: 'inserted', id: -1n },
      { done: 'ignored', id: null },
    ]);
  });

  test('nothing is sent for an empty list', async () => {
    const none = { in: { values: [] } };
    assert.deepEqual(await sent((users) => users.count([], none)), { lines: [], value: 0 });
    assert.deepEqual(await sent((users) => users.exists([], none)), { lines: [], value: false });
    assert.deepEqual(await sent((users) => users.update([], { visits: assign.add(1) }, none)), { lines: [], value: 0 });
  });

  test('a count without a limit goes with the long finds', async () => {
    await using(
      (line) => (line.startsWith('P\t') ? undefined : '0\t1\t1\n'),
      {},
      async (client, server) => {
        const users = usersOf(client);
        await users.count(1, { limit: 3 });
        assert.equal(server.connections, 1);
        await users.count(1);
        assert.equal(server.connections, 2);
        await users.count(1, { long: false });
        assert.equal(server.connections, 2);
      },
    );
  });

  test('an upsert may have been executed if its reply does not come', async () => {
    await using(
      (line, socket) => {
        if (!line.startsWith('P\t')) socket.destroy();
        return undefined;
      },
      {},
      async (client) => {
        await assert.rejects(usersOf(client).upsert([1], { visits: 2 }), { kind: 'lost', maybeExecuted: true });
        await assert.rejects(usersOf(client).count(1), { kind: 'lost', maybeExecuted: false });
      },
    );
  });
});

suite('what cannot be meant', () => {
  const wrong: Record<string, (users: Users) => Promise<unknown>> = {
    'an operator beside a range': (users) => users.find(range(), { op: '>' }),
    'two lower ends': (users) => users.find(range({ gt: 1, ge: 1 })),
    'two upper ends': (users) => users.find(range({ lt: 1, le: 1 })),
    'a prefix and an end': (users) => users.find(range({ prefix: 'a', lt: 'b' })),
    'exists with a limit': (users) => users.exists(1, { limit: 3 } as object),
    'a count with the limit 0': (users) => users.count(1, { limit: 0 }),
    'an assignment in an insert': (users) => users.insert([assign.now() as unknown as number]),
    'an assignment in an increment': (users) => users.increment(1, { visits: assign.add(1) as unknown as number }),
    'an assignment in a key': (users) => users.find(assign.now() as unknown as number),
    'inserted() in an update': (users) => users.update(1, { visits: assign.inserted() }),
    'too many assignments': (users) => users.update(1, [1, 2, 3, 4, assign.now()]),
    'a column that is not there': (users) => users.update(1, { visits: assign.add(1), other: 1 } as object),
    'no rows': (users) => users.insertMany([]),
    'an empty row': (users) => users.insertMany([[]]),
    'rows of different lengths': (users) => users.insertMany([[1], [1, 'a']]),
    'rows with different names': (users) => users.insertMany([{ id: 1 }, { name: 'a' }]),
    'rows of both kinds': (users) => users.insertMany([[1], { id: 1 }]),
    'an unknown word for duplicates': (users) => users.insertMany([[1]], { duplicate: 'update' as 'fail' }),
    'no changes': (users) => users.upsert([1], {}),
    'changes by position': (users) => users.upsert([1], [1] as object),
    'a filter that ends': (users) => users.upsert([1], { id: 2 }, { filters: [['age', '=', 1, 'while']] }),
    'a filter on another column': (users) => users.upsert([1], { id: 2 }, { filters: [['name' as 'age', '=', 1]] }),
  };
  for (const [name, ask] of Object.entries(wrong)) {
    test(name, async () => {
      await using(() => undefined, {}, async (client, server) => {
        assert.equal(await kindOf(ask(usersOf(client))), 'usage');
        assert.deepEqual(server.lines, []);
      });
    });
  }
});

suite("the application's own code", () => {
  // What it throws while a row is made ends its own call: the connection stays, and others get their replies.
  const picky = {
    read(bytes: Buffer | null): string {
      const text = String(bytes);
      if (text === '1') throw new TypeError('not this one');
      return text;
    },
  };
  const echo: Answer = (line) => (line.startsWith('P\t') ? undefined : `0\t1\t${line.split('\t')[3]}\n`);

  test('neighbours on a connection', async () => {
    await using(echo, {}, async (client, server) => {
      const index = client.index({ database: 'db', table: 't', columns: { id: picky } });
      const [two, one, three] = await Promise.allSettled([index.findOne(2), index.findOne(1), index.find(3)]);
      assert.deepEqual([two, three].map((each) => each!.status), ['fulfilled', 'fulfilled']);
      const error = (one as PromiseRejectedResult).reason as HandlerSocketError;
      assert.ok(error instanceof HandlerSocketError);
      assert.deepEqual([error.kind, error.sent, error.maybeExecuted], ['decode', true, false]);
      assert.ok(error.cause instanceof TypeError);
      assert.equal(server.connections, 1);
    });
  });

  test('rows one by one', async () => {
    await using(echo, {}, async (client) => {
      const index = client.index({ database: 'db', table: 't', columns: { id: picky } });
      const all = async (key: number): Promise<unknown[]> => {
        const found = [];
        for await (const row of index.iterate(key)) found.push(row.id);
        return found;
      };
      await assert.rejects(all(1), { kind: 'decode' });
      assert.deepEqual(await all(2), ['2']);
    });
  });
});

suite('what is refused before anything is sent', () => {
  test('a time below 0, or none', async () => {
    await using(echo, { retryReads: 1 }, async (client, server, rows) => {
      for (const timeout of [-1, -0.5, NaN, -Infinity, '5' as unknown as number]) {
        const calls: Promise<unknown>[] = [
          rows.find(1, { timeout }),
          rows.delete(1, { timeout }),
          rows.count(1, { timeout }),
          rows.insertMany([[1, 'a']], { timeout }),
          rows.iterate(1, { timeout }).next(),
          client.group((on) => [on(rows).delete(1)], { timeout }),
          client.pipeline((on) => [on(rows).delete(1)], { timeout }).then(([result]) => {
            if (result.status === 'rejected') throw result.reason as Error;
          }),
          client.describe({ database: 'db', table: 't' }, { timeout }),
          client.ping({ timeout }),
          client.databases({ timeout }),
        ];
        assert.deepEqual(
          await Promise.all(calls.map(kindOf)),
          calls.map(() => 'usage'),
        );
      }
      assert.equal(await kindOf(rows.find(1, { timeout: 0 })), 'fulfilled');
      assert.deepEqual(server.lines.length, 2);
    });
  });

  test('a call that names no database, of a client without one', async () => {
    await using(echo, {}, async (client, server) => {
      const isUsage = { kind: 'usage', message: /database/ };
      assert.throws(() => client.index({ table: 't', columns: ['a'] }), isUsage);
      const calls: (() => Promise<unknown>)[] = [
        () => client.describe({ table: 't' }),
        () => client.describedIndex({ table: 't' }),
        () => client.tables(),
        () => client.tables(''),
        () => client.indexes({ table: 't' }),
        () => client.indexes({ database: '', table: 't' }),
      ];
      for (const call of calls) await assert.rejects(call(), isUsage, String(call));
      assert.deepEqual(server.lines, []);
    });
  });
});
