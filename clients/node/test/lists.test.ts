// Lists of databases, tables and indexes, and pings. The scenarios have the rest.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Client, ListedIndex, RequestEvent } from '../src/index.js';
import { otelAttributes, otelSpanName } from '../src/index.js';
import { readHead } from '../src/replies.js';
import { readIndexes, readNames, readPong } from '../src/list.js';
import { Piece } from '../src/pieces.js';
import { WrongReply } from '../src/errors.js';
import type { Answer } from './answering-server.js';
import { kindOf, using } from './client-kit.js';
import { Random, SEED } from './random.js';

const REPLIES: Record<string, string> = {
  L: '0\t1\tdb\tgr\xc3\xb6\xc3\x9fe\ta\x01Ib\n',
  'L\tdb': '0\t1\tt\n',
  'L\tgr\xc3\xb6\xc3\x9fe': '0\t1\n',
  'L\tdb\tt': '0\t6\tk\t0\t1\ta\t0\t1\tk\t0\t1\t\0\t1\t0\th\t1\t0\ta\t0\t0\n',
  'L\tdb\tbare': '0\t6\n',
  'echo\tping': '0\t1\tping\n',
};
const answer: Answer = (line) => REPLIES[line] ?? '1\t1\t1049\n';
const INDEXES: ListedIndex[] = [
  {
    ...{ name: 'k', unique: false, ordered: true },
    parts: [
      { column: 'a', descends: false, prefix: true },
      { column: null, descends: true, prefix: false },
    ],
  },
  { name: 'h', unique: true, ordered: false, parts: [{ column: 'a', descends: false, prefix: false }] },
];

suite('lists', () => {
  test('names and indexes, by the port for writing if there is no other', async () => {
    for (const ports of [{}, { port: undefined as never }]) {
      await using(answer, { database: 'db', ...ports }, async (client, server) => {
        assert.deepEqual(await client.databases(), ['db', 'größe', 'a\tb']);
        assert.deepEqual(await client.tables(), ['t']);
        assert.deepEqual(await client.tables('größe'), []);
        assert.deepEqual(await client.indexes({ table: 't' }), INDEXES);
        assert.deepEqual(await client.indexes({ database: 'db', table: 'bare' }), []);
        assert.equal(await client.ping(), undefined);
        await assert.rejects(client.tables('nosuch'), { kind: 'reply', text: '1049', sent: true, maybeExecuted: false });
        assert.equal(server.connections, 1);
      });
    }
  });

  test('what cannot be meant is refused before anything is sent', async () => {
    await using(answer, {}, async (client, server) => {
      const wrong = [
        ...['a\tb', 'a\nb', 'a\rb', 'a\0b', '', 7, null, undefined].map((name) => client.tables(name as never)),
        ...['a\tb', 'a\nb', 'a\rb', 'a\0b', '', 7, null, undefined].map((table) => client.indexes({ database: 'db', table } as never)),
        client.indexes({ table: 't' }),
        client.indexes({ database: 'a\tb', table: 't' }),
        client.indexes({ database: 'db', table: 't', index: 'PRIMARY' } as never),
        client.databases({ within: 5 } as never),
        client.tables('db', { within: 5 } as never),
        client.indexes({ database: 'db', table: 't' }, { within: 5 } as never),
        client.ping({ timeout: -1 }),
      ];
      assert.deepEqual(await Promise.all(wrong.map(kindOf)), Array(wrong.length).fill('usage'));
      assert.equal(server.connections, 0);
    });
  });

  test('what TypeScript knows', () => {
    const check = async (client: Client): Promise<void> => {
      // @ts-expect-error: the server has no time for it
      await client.databases({ within: 5 });
      // @ts-expect-error: the table has to be named
      await client.indexes({ database: 'db' });
      const names: string[] = await client.tables();
      const column: string | null | undefined = (await client.indexes({ table: names[0]! }))[0]?.parts[0]?.column;
      void column;
    };
    void check;
  });

  test('they modify nothing: sent again if that is asked for, and given up alone', async () => {
    let asked = 0;
    const once: Answer = (line, socket) => (asked++ === 0 ? void socket.destroy() : answer(line, socket));
    await using(once, { retryReads: 1 }, async (client) => assert.deepEqual(await client.tables('db'), ['t']));
    asked = 0;
    await using(once, {}, async (client) => {
      await assert.rejects(client.indexes({ database: 'db', table: 't' }), { kind: 'lost', sent: true, maybeExecuted: false });
    });
    const late: Answer = (line, socket) => void setTimeout(() => socket.write(REPLIES[line]!), 50);
    await using(late, {}, async (client) => {
      const abort = new AbortController();
      const calls = [client.databases({ signal: abort.signal }), client.ping({ timeout: 1 }), client.tables('db')].map(kindOf);
      setTimeout(() => abort.abort(), 10);
      assert.deepEqual(await Promise.all(calls), ['cancelled', 'timeout', 'fulfilled']);
    });
  });

  test('an event for each, with names for OpenTelemetry', async () => {
    const events: RequestEvent[] = [];
    const old: Answer = (line, socket) => (line.startsWith('echo') ? '2\t1\tcmd\n' : answer(line, socket));
    await using(old, { hooks: { request: (event) => events.push(event) } }, async (client, _, __, port) => {
      await client.databases();
      await client.tables('db');
      await client.indexes({ database: 'db', table: 't' });
      await client.ping();
      const common = { index: '', route: 'read', address: `127.0.0.1:${port}`, milliseconds: 0, error: null };
      assert.deepEqual(
        events.map((event) => ({ ...event, milliseconds: 0 })),
        [
          { operation: 'list', database: '', table: '', ...common, bytesOut: 2, bytesIn: 20, rows: 3 },
          { operation: 'list', database: 'db', table: '', ...common, bytesOut: 5, bytesIn: 6, rows: 1 },
          { operation: 'list', database: 'db', table: 't', ...common, bytesOut: 7, bytesIn: 40, rows: 3 },
          { operation: 'ping', database: '', table: '', ...common, bytesOut: 10, bytesIn: 8, rows: 0 },
        ],
      );
      assert.deepEqual(events.map(otelSpanName), ['list', 'list', 'list t', 'ping']);
      assert.equal(otelAttributes(events[1]!)['db.namespace'], 'db');
      assert.equal(otelAttributes(events[2]!)['db.collection.name'], 't');
      assert.equal(client.counters.errors, 0);
    });
  });
});

suite('what is no list', () => {
  const readers = { names: readNames, indexes: readIndexes, pong: readPong };
  const read = (kind: keyof typeof readers, line: string): unknown => {
    const piece = new Piece(Buffer.from(line, 'latin1'));
    return readers[kind](piece, readHead(piece, 0, line.length), line.length);
  };

  test('one by one', () => {
    const part = 'k\t0\t1\ta\t0\t0';
    const wrong = {
      names: ['0\t0', '0\t2\ta\tb', '0\t1\t\0', '0\t1\ta\t\0', '0\t1\ta\x01', `0\t6\t${part}`],
      indexes: [
        ...['0\t1', `0\t5\t${part}`, `0\t7\t${part}`],
        ...['0\t1\tk', '0\t5\tk\t0\t1\ta\t0', '0\t6\tk', `0\t6\t${part}\tk`, `0\t7\t${part}\t0`, '0\t6\t'],
        ...['0\t6\t\0\t0\t1\ta\t0\t0', '0\t6\tk\t2\t1\ta\t0\t0', '0\t6\tk\t0\tyes\ta\t0\t0', '0\t6\tk\t0\t1\ta\t\0\t0'],
        ...['0\t6\tk\t0\t1\ta\t0\t', '0\t6\tk\t0\t1\ta\x01\t0\t0'],
      ],
      pong: ['0\t1', '0\t1\t', '0\t1\t\0', '0\t1\tpong', '0\t1\tping\tping', '0\t2\tping', '0\t1\tpings', '0\t0\tping'],
    };
    for (const [kind, lines] of Object.entries(wrong)) {
      for (const line of lines) assert.throws(() => read(kind as keyof typeof readers, line), WrongReply, JSON.stringify([kind, line]));
    }
  });

  test('any bytes', () => {
    const random = new Random(SEED);
    const tokens = ['k', 'h', '0', '1', '\0', '', '\x01I', '\x01', 'ping', '\xc3\xa9', '\x80'];
    for (let round = 0; round < 3000; round++) {
      const noise = Array.from({ length: random.below(20) }, () => `\t${random.one(tokens)}`).join('');
      for (const kind of ['names', 'indexes', 'pong'] as const) {
        try {
          read(kind, `0\t${random.one(['1', '6'])}${noise}`);
        } catch (error) {
          assert.ok(error instanceof WrongReply, String(error));
        }
      }
    }
  });
});
