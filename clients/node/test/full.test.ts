// Connections that can open no more indexes. The scenarios have single requests; here is what else can stand behind such a P.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Client } from '../src/index.js';
import type { ConnectionEvent, ReplyError } from '../src/index.js';
import { PlayedPort, Signals } from './played-server.js';
import type { Script } from './played-server.js';

const T = { database: 'db', table: 't', columns: ['a'] } as const;
const U = { database: 'db', table: 'u', columns: ['a'] } as const;

type Rows = ReturnType<typeof rowsOf>;
const rowsOf = (client: Client) => ({ t: client.index(T), u: client.index(U) });

/** Runs with a client whose server plays these connections, and gives what happened to them. */
async function played(scripts: Script[], use: (client: Client, rows: Rows) => Promise<void>): Promise<ConnectionEvent[]> {
  const port = new PlayedPort(scripts, -1, new Signals());
  await port.listen();
  const events: ConnectionEvent[] = [];
  const client = new Client({ port: port.port, portWr: port.port, timeout: 5000, hooks: { connection: (event) => events.push(event) } });
  try {
    await use(client, rowsOf(client));
    await port.finish();
  } finally {
    await client.close();
    port.close();
  }
  return events;
}

const OPENS_T: Script = [{ expect: 'P\t1\tdb\tt\tPRIMARY\ta\n1\t+\t1\t1\n' }, { send: '0\t1\n0\t1\n' }];
const FULL = '2\t1\tstmtnum\n';

suite('a connection that is full', () => {
  test('a group goes to another one as a whole', async () => {
    const events = await played(
      [
        [
          ...OPENS_T,
          { expect: 'P\t2\tdb\tu\tPRIMARY\ta\nG\t2\n1\t+\t1\t2\n2\t+\t1\t3\n' },
          { send: `${FULL}2\t1\tundone\t2\n2\t1\tundone\n${FULL}` },
          { expect_end: true },
        ],
        [
          { expect: 'P\t1\tdb\tt\tPRIMARY\ta\nP\t2\tdb\tu\tPRIMARY\ta\nG\t2\n1\t+\t1\t2\n2\t+\t1\t3\n' },
          { send: '0\t1\n0\t1\n0\t1\n0\t1\t2\n0\t1\t3\n' },
        ],
      ],
      async (client, { t, u }) => {
        await t.insert(['1']);
        assert.deepEqual(await client.group((on) => [on(t).insert(['2']), on(u).insert(['3'])]), [2n, 3n]);
      },
    );
    assert.deepEqual(
      events.map(({ event }) => event),
      ['connected', 'closed', 'connected', 'closed'],
    );
    assert.equal(events[1]!.reason, 'it can open no more indexes');
  });

  test('what was in flight is answered there, and each that was refused is sent again', async () => {
    await played(
      [
        [
          ...OPENS_T,
          { expect: 'P\t2\tdb\tu\tPRIMARY\ta\n2\t+\t1\t5\n1\t+\t1\t6\n2\t+\t1\t7\n' },
          { send: `${FULL}${FULL}0\t1\t6\n${FULL}` },
          { expect_end: true },
        ],
        [{ expect: 'P\t1\tdb\tu\tPRIMARY\ta\n1\t+\t1\t5\n1\t+\t1\t7\n' }, { send: '0\t1\n0\t1\t5\n0\t1\t7\n' }],
      ],
      async (client, { t, u }) => {
        await t.insert(['1']);
        const results = await client.pipeline((on) => [on(u).insert(['5']), on(t).insert(['6']), on(u).insert(['7'])]);
        assert.deepEqual(
          results.map((result) => result.status === 'fulfilled' && result.value),
          [5n, 6n, 7n],
        );
      },
    );
  });

  test('an iteration begins on another one', async () => {
    const begins = (id: number, table: string) => `P\t${id}\tdb\t${table}\tPRIMARY\ta\n${id}\t>=\t1\t0\n`;
    await played(
      [
        [{ expect: begins(1, 't') }, { send: '0\t1\n0\t1\tx\n' }, { expect: begins(2, 'u') }, { send: FULL + FULL }, { expect_end: true }],
        [{ expect: begins(1, 'u') }, { send: '0\t1\n0\t1\ty\n' }],
      ],
      async (_, { t, u }) => {
        const all: unknown[] = [];
        for (const rows of [t, u]) for await (const { a } of rows.iterate('0', { op: '>=' })) all.push(a);
        assert.deepEqual(all, ['x', 'y']);
      },
    );
  });

  test('a request that is refused once more has that error', async () => {
    // The new connection can open the first of two, and not the second.
    const first = (id: number) => `P\t${id}\tdb\tv\tPRIMARY\ta\n${id}\t+\t1\t4\n`;
    const second = (id: number) => `P\t${id}\tdb\tu\tPRIMARY\ta\n${id}\t+\t1\t5\n`;
    await played(
      [
        [...OPENS_T, { expect: first(2) + second(3) }, { send: FULL.repeat(4) }, { expect_end: true }],
        [{ expect: first(1) + second(2) }, { send: `0\t1\n0\t1\t4\n${FULL}${FULL}` }, { expect_end: true }],
      ],
      async (client, { t, u }) => {
        const v = client.index({ ...U, table: 'v' });
        await t.insert(['1']);
        const [one, two] = await client.pipeline((on) => [on(v).insert(['4']), on(u).insert(['5'])]);
        assert.deepEqual(one, { status: 'fulfilled', value: 4n });
        assert.ok(two.status === 'rejected');
        const { kind, text, sent, maybeExecuted } = two.reason as ReplyError;
        assert.deepEqual({ kind, text, sent, maybeExecuted }, { kind: 'reply', text: 'stmtnum', sent: true, maybeExecuted: false });
      },
    );
  });

  test('one that is lost before it has answered all: what it refused is sent again', async () => {
    await played(
      [
        [...OPENS_T, { expect: 'P\t2\tdb\tu\tPRIMARY\ta\n2\t+\t1\t5\n' }, { send: FULL }, { close: true }],
        [{ expect: 'P\t1\tdb\tu\tPRIMARY\ta\n1\t+\t1\t5\n' }, { send: '0\t1\n0\t1\t5\n' }],
      ],
      async (_, { t, u }) => {
        await t.insert(['1']);
        assert.equal(await u.insert(['5']), 5n);
      },
    );
  });
});
