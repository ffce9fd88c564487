// Descriptions, the indexes that are made from them, hello, and times for the server. The scenarios have the rest.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { inspect } from 'node:util';
import { Client, HandlerSocketError, otelAttributes, otelSpanName } from '../src/index.js';
import type { Description, Index, RequestEvent } from '../src/index.js';
import { serving } from './answering-server.js';
import type { Answer } from './answering-server.js';
import { kindOf, silent, using } from './client-kit.js';
import { pause } from './played-server.js';

const COLUMNS: [name: string, type: string, charset: string][] = [
  ['id', 'bigint(20)', '\0'],
  ['n', 'int(11)', '\0'],
  ['price', 'decimal(10,2)', '\0'],
  ['ratio', 'double', '\0'],
  ['name', 'varchar(20)', 'utf8mb4'],
  ['photo', 'blob', '\0'],
  ['day', 'date', '\0'],
  ['seen', 'datetime(3)', '\0'],
  ['walk', 'time', '\0'],
  ['settings', 'json', 'utf8mb4'],
];
const line = (kind: string, [name, type, charset]: [string, string, string], nullable: number): string =>
  `\t${kind}\t${name}\t${type}\t${nullable}\t0\t0\t${charset}`;
const REPLY = `0\t7${COLUMNS.map((column, i) => line('column', column, i === 0 ? 0 : 1)).join('')}${line('key', COLUMNS[0]!, 0)}\n`;
const VALUES = ['7', '-3', '1.50', '1e300', 'Ann', '\x80\xff', '2024-02-29', '2024-02-29 01:02:03.000', '-00:00:01', '{"a":[1]}'];
const ROW = {
  id: 7n,
  n: -3,
  price: '1.50',
  ratio: 1e300,
  name: 'Ann',
  photo: Buffer.from([0x80, 0xff]),
  day: '2024-02-29',
  seen: '2024-02-29 01:02:03.000',
  walk: -1000,
  settings: '{"a":[1]}',
};

/** Describes the table, finds the row, and modifies. */
const table: Answer = (request) => {
  if (request.startsWith('D\t')) return REPLY;
  if (request.startsWith('H')) return '0\t2\tplugin\t2.0.0\n';
  if (/\t[+UD]\t/.test(request)) return '0\t1\t1\n';
  return request.startsWith('P') ? undefined : `0\t${VALUES.length}\t${VALUES.join('\t')}\n`;
};
const PLACE = { database: 'db', table: 't' } as const;
const NAMES = COLUMNS.map(([name]) => name).join(',');
const isUsage = (error: unknown): boolean => error instanceof HandlerSocketError && error.kind === 'usage' && !error.sent;

suite('descriptions', () => {
  test('an index with types', async () => {
    await using(table, {}, async (client, server) => {
      const index = await client.describedIndex(PLACE);
      assert.deepEqual(index.columns, NAMES.split(','));
      const row = await index.findOne(7);
      assert.deepEqual(row, ROW);
      assert.deepEqual(Object.keys(row!), NAMES.split(','));
      assert.deepEqual(await index.find({ id: 7n }), [ROW]);
      await index.update({ id: 7 }, [8n, 1, '0.1', 0.1, 'x', Buffer.from([0]), '2024-03-01', null, 61_000, '[]']);
      const updated = '8\t1\t0.1\t0.1\tx\t\x01@\t2024-03-01\t\0\t00:01:01\t[]';
      assert.deepEqual(server.lines, [
        'P\t1\tdb\tt\tPRIMARY\t*',
        'D\t1',
        `P\t2\tdb\tt\tPRIMARY\t${NAMES}`,
        '2\t=\t1\t7',
        '2\t=\t1\t7',
        `P\t1\tdb\tt\tPRIMARY\t${NAMES}`,
        `1\t=\t1\t7\t1\t0\tU\t${updated}`,
      ]);
      // P and D go out together, and so does what comes with the first find and the update.
      assert.equal(client.counters.socketWrites, 4);
    });
  });

  test('types of ones own, rows as arrays, an interface', async () => {
    interface Thing {
      id: number;
      seen: Date | null;
      settings: unknown;
    }
    await using(table, {}, async (client) => {
      const types = { id: 'number', seen: 'datetime.utc?', settings: 'json' } as const;
      const things = await client.describedIndex<Thing>({ ...PLACE, types });
      const thing: Thing | null = await things.findOne(7);
      assert.deepEqual(thing, { ...ROW, id: 7, seen: new Date('2024-02-29T01:02:03Z'), settings: { a: [1] } });
      const description = await client.describe(PLACE);
      assert.deepEqual(await client.indexFrom(description, { rows: 'array' }).findOne(7), Object.values(ROW));
      // A description is data: it can be kept.
      const kept = JSON.parse(JSON.stringify(description)) as Description;
      assert.deepEqual(await client.indexFrom(kept).findOne(7), ROW);
    });
  });

  test('a value that does not fit is the error of its call alone', async () => {
    const wrong = VALUES.map((value) => (value === '-3' ? '1.5' : value));
    let values = wrong;
    const answer: Answer = (request) =>
      /^\d/.test(request) ? `0\t${values.length}\t${values.join('\t')}\n` : table(request, undefined as never);
    await using(answer, {}, async (client, server) => {
      const index = await client.describedIndex(PLACE);
      assert.equal(await kindOf(index.findOne(7)), 'decode');
      values = VALUES.map((value, i) => (i === 0 ? '\0' : value));
      assert.equal(await kindOf(index.findOne(7)), 'decode');
      values = VALUES.map((value, i) => (i === 0 ? value : '\0'));
      assert.deepEqual(await index.findOne(7), { ...Object.fromEntries(Object.keys(ROW).map((name) => [name, null])), id: 7n });
      assert.equal(server.connections, 1);
    });
  });

  test('in pipelines and groups, and on a connection that is made again', async () => {
    await using(table, {}, async (client, server) => {
      const index = await client.describedIndex(PLACE);
      const [one, two] = await client.pipeline((on) => [on(index).findOne(7), on(index).findOne(8)]);
      assert.deepEqual([one, two], Array(2).fill({ status: 'fulfilled', value: ROW }));
      for (const socket of server.sockets) socket.destroy();
      await pause(30);
      server.lines.length = 0;
      assert.deepEqual(await index.findOne(7), ROW);
      // It is not described again, and has the first number.
      assert.deepEqual(server.lines, [`P\t1\tdb\tt\tPRIMARY\t${NAMES}`, '1\t=\t1\t7']);
    });
  });

  test('all columns are asked for again, and not those of before', async () => {
    let added = false;
    let gone = false;
    const answer: Answer = (request, socket) => {
      if (request.startsWith('P') && request.endsWith('*') && gone) return '1\t1\topen_table\n';
      if (request.startsWith('D') && added) return REPLY.replace('\tkey', `${line('column', ['new', 'int', '\0'], 1)}\tkey`);
      return table(request, socket);
    };
    await using(answer, {}, async (client, server) => {
      assert.equal((await client.describe(PLACE)).columns.length, COLUMNS.length);
      await client.describe({ ...PLACE, columns: NAMES.split(',') });
      added = true;
      assert.equal((await client.describe(PLACE)).columns.length, COLUMNS.length + 1);
      // Columns that are named are asked for once.
      added = false;
      await client.describe({ ...PLACE, columns: NAMES.split(',') });
      gone = true;
      await assert.rejects(client.describe(PLACE), { kind: 'reply', text: 'open_table' });
      const all = ['P\t1\tdb\tt\tPRIMARY\t*', 'D\t1'];
      assert.deepEqual(server.lines, [...all, `P\t2\tdb\tt\tPRIMARY\t${NAMES}`, 'D\t2', ...all, 'D\t2', ...all]);
      assert.equal(server.connections, 1);
    });
  });

  test('a star is no column', async () => {
    await using(table, {}, async (client, server) => {
      assert.throws(() => client.index({ ...PLACE, columns: ['*'] }), isUsage);
      // By itself it would be all columns, and the value that of the first.
      const index = client.index({ ...PLACE, columns: ['id', '*'] });
      await assert.rejects(index.insert({ '*': 7 }), isUsage);
      assert.deepEqual(server.lines, []);
    });
  });

  test('many callers, of which some give up', async () => {
    const slow: Answer = (request, socket) => {
      setTimeout(() => socket.write(Buffer.from((table(request, socket) ?? '0\t1\n') as string, 'latin1')), 50);
      return '';
    };
    await using(slow, {}, async (client, server) => {
      const abort = new AbortController();
      const gone = new AbortController();
      gone.abort();
      const calls = [
        client.describe(PLACE, { signal: abort.signal }),
        client.describe(PLACE),
        client.describedIndex(PLACE, { timeout: 1 }),
        client.describedIndex(PLACE, { signal: gone.signal }),
        client.hello({ signal: abort.signal }),
        client.hello(),
      ].map((call) => call.catch((error: HandlerSocketError) => [error.kind, error.sent, error.maybeExecuted]));
      // On a busy machine making the connection takes longer than any pause.
      for (let i = 0; i < 5000 && !server.lines.includes('H'); i++) await pause(1);
      abort.abort();
      const [aborted, described, late, never, noHello, hello] = await Promise.all(calls);
      assert.deepEqual(aborted, ['cancelled', true, false]);
      assert.equal((described as Description).columns.length, COLUMNS.length);
      assert.equal((late as unknown[])[0], 'timeout');
      assert.deepEqual(never, ['cancelled', false, false]);
      assert.deepEqual(noHello, ['cancelled', true, false]);
      assert.deepEqual(hello, new Map([['plugin', '2.0.0']]));
      // Replies that nobody waits for are dropped, and what comes behind them is right.
      assert.deepEqual(await (await client.describedIndex(PLACE)).findOne(7), ROW);
      assert.equal(server.connections, 1);
      assert.equal(client.counters.inFlight, 0);
    });
  });

  test('is lost with its connection, and asked again by option', async () => {
    const broken = new Set<string>();
    const answer: Answer = (request, socket) => {
      if (!/^[DH]/.test(request) || broken.has(request)) return table(request, socket);
      broken.add(request);
      return void socket.destroy();
    };
    await using(answer, {}, async (client) => {
      await assert.rejects(client.describe(PLACE), { kind: 'lost', sent: true, maybeExecuted: false });
      await assert.rejects(client.hello(), { kind: 'lost', sent: true, maybeExecuted: false });
    });
    broken.clear();
    await using(answer, { retryReads: 1 }, async (client) => {
      const [description, hello] = [await client.describe(PLACE), await client.hello()];
      assert.deepEqual([description.columns.length, hello.size], [COLUMNS.length, 1]);
    });
  });

  test('without a port for reading', async () => {
    await serving(table, async (server, port) => {
      const client = new Client({ portWr: port, database: 'db' });
      await (await client.describedIndex({ table: 't' })).insert({ n: 1 });
      await client.hello();
      assert.equal(server.connections, 1);
      await client.close();
    });
  });

  test('what cannot be meant is refused, and nothing is sent', async () => {
    await using(table, {}, async (client, server) => {
      const wrong: [object, object?][] = [
        [{}],
        [{ table: 't' }],
        [{ ...PLACE, columns: ['*'] }],
        [{ ...PLACE, columns: null }],
        [{ ...PLACE, columns: ['a,b'] }],
        [{ ...PLACE, columns: 'a' }],
        [{ ...PLACE, columns: { a: 'number' } }],
        [{ ...PLACE, filterColumns: [7] }],
        [{ ...PLACE, key: ['a'] }],
        [PLACE, { within: 5 }],
        [PLACE, { timeout: -1 }],
      ];
      for (const [place, call] of wrong) {
        await assert.rejects(client.describe(place as never, call as never), isUsage, inspect(place));
        await assert.rejects(client.describedIndex(place as never, call as never), isUsage, inspect(place));
      }
      await assert.rejects(client.describedIndex({ ...PLACE, rows: 'map' as never }), isUsage);
      await assert.rejects(client.describedIndex({ ...PLACE, types: { id: 'text' as never } }), isUsage);
      await assert.rejects(client.hello({ within: 5 } as never), isUsage);
      await assert.rejects(client.ping({ within: 5 } as never), isUsage);
      assert.equal(server.connections, 0);
      await assert.rejects(client.describedIndex({ ...PLACE, types: { nosuch: 'string' } }), isUsage);
      assert.throws(() => client.indexFrom({} as never), isUsage);
      const description = await client.describe(PLACE);
      for (const options of [{ rows: 'map' }, { key: ['id'] }, { types: { id: 'text' } }, { types: { nosuch: 'string' } }]) {
        assert.throws(() => client.indexFrom(description, options as never), isUsage, inspect(options));
      }
      assert.throws(() => client.indexFrom(null as never), TypeError);
    });
  });

  test('what TypeScript knows', () => {
    const check = async (client: Client): Promise<void> => {
      // @ts-expect-error: the server has no time for it
      await client.describe(PLACE, { within: 5 });
      // @ts-expect-error: nor for this
      await client.hello({ within: 5 });
      // @ts-expect-error: the key is in the description
      await client.describedIndex({ ...PLACE, key: ['a'] });
      // @ts-expect-error: no such type
      await client.describedIndex({ ...PLACE, types: { a: 'text' } });
      const things = await client.describedIndex<{ id: bigint; name: string | null }>(PLACE, { timeout: 5 });
      const id: bigint | undefined = (await things.findOne(1, { within: 5 }))?.id;
      // @ts-expect-error: no such column
      await things.update(1, { nosuch: 1 });
      // @ts-expect-error: a column that can be NULL
      const name: string = (await things.findOne(1))!.name;
      const rows: unknown[][] = await (await client.describedIndex({ ...PLACE, rows: 'array' })).find(1);
      const protocol: string | undefined = (await client.hello()).get('protocol');
      const type: string | null | undefined = (await client.describe(PLACE)).columns[0]?.type;
      void [id, name, rows, protocol, type];
    };
    assert.equal(typeof check, 'function');
  });

  test('names that an object cannot have, and a part that is an expression', async () => {
    const int = (kind: string, name: string): string => line(kind, [name, 'int', '\0'], 0);
    const reply = `0\t7${int('column', '2')}${int('column', '__proto__')}${int('column', '1')}${int('key', '\0')}${int('key', '1')}\n`;
    await using(
      (request) => (request.startsWith('P') ? undefined : request.startsWith('D') ? reply : '0\t3\t2\t9\t1\n'),
      {},
      async (client) => {
        await assert.rejects(client.describedIndex(PLACE), /__proto__/);
        const index = await client.describedIndex({ ...PLACE, rows: 'array' });
        assert.deepEqual(await index.findOne([5, 1]), [2, 9, 1]);
        await assert.rejects(index.findOne({ 1: 5 } as never), isUsage);
      },
    );
  });

  test('an event for each, with names for OpenTelemetry', async () => {
    const events: RequestEvent[] = [];
    await using(table, { hooks: { request: (event) => events.push(event) } }, async (client, _, __, port) => {
      await client.describe(PLACE);
      await client.hello();
      const [described, hello] = events.map((event) => ({ ...event, milliseconds: 0 }));
      const common = { route: 'read', address: `127.0.0.1:${port}`, milliseconds: 0, error: null };
      const bytesIn = Buffer.byteLength(REPLY, 'latin1');
      assert.deepEqual(described, { operation: 'describe', ...PLACE, index: 'PRIMARY', ...common, bytesOut: 4, bytesIn, rows: 11 });
      assert.deepEqual(hello, { operation: 'hello', database: '', table: '', index: '', ...common, bytesOut: 2, bytesIn: 17, rows: 1 });
      assert.deepEqual(events.map(otelSpanName), ['describe t', 'hello']);
      const server = { 'server.address': '127.0.0.1', 'server.port': port };
      assert.deepEqual(otelAttributes(events[1]!), { 'db.system.name': 'handlersocket', 'db.operation.name': 'hello', ...server });
    });
  });
});

suite('within', () => {
  test('stands in front of each kind of request', async () => {
    const answer: Answer = (request) => {
      if (request.startsWith('P')) return undefined;
      if (/\t(C|E|insert|[UD+-])(\t|$)/.test(request)) return request.includes('insert') ? '0\t2\tinserted\t\0\n' : '0\t1\t1\n';
      return '0\t2\t1\ttext 1\n';
    };
    await using(answer, {}, async (client, server, rows) => {
      const within = { within: 250 };
      await rows.find(1, within);
      await rows.findOne(1, within);
      await rows.findIn([1, 2], within);
      await rows.count(1, within);
      await rows.exists(1, within);
      await rows.insert([1], within);
      await rows.insertMany([[1]], within);
      await rows.upsert([1], { id: 1 }, within);
      await rows.update(1, [1], within);
      await rows.delete(1, within);
      await rows.decrement(1, [1], within);
      await rows.fetchAndDelete(1, within).catch(() => undefined);
      for await (const one of rows.iterate(1, within)) assert.equal(one.id, 1);
      await client.pipeline((on) => [on(rows).findOne(1), on(rows).findOne(2, { within: 20 })], within);
      const sent = server.lines.filter((request) => !request.startsWith('P'));
      assert.equal(sent.length, 15);
      assert.ok(
        sent.slice(0, 14).every((request) => request.startsWith('within\t250\t1\t') || request.startsWith('within\t250\t2\t')),
        sent.join('\n'),
      );
      assert.equal(sent[14], 'within\t20\t1\t=\t1\t2');
      assert.equal(client.counters.inFlight, 0);
    });
  });

  test('is a number of milliseconds, and is rounded', async () => {
    await using(table, {}, async (client, server) => {
      const index: Index = client.indexFrom(await client.describe(PLACE));
      for (const within of [0, 0.9, -1, NaN, Infinity, 2 ** 31 + 1, 2 ** 31 + 0.25, '5', null, 5n, true]) {
        const options = { within } as never;
        await assert.rejects(index.findOne(1, options), isUsage, String(within));
        await assert.rejects(index.insert([1], options), isUsage);
        await assert.rejects(
          client.group((on) => [on(index).delete(1)], options),
          isUsage,
        );
        const [piped] = await client.pipeline((on) => [on(index).findOne(1, options)]);
        // null is as if it were not there, as for the other options of a pipeline.
        assert.equal(piped.status, within === null ? 'fulfilled' : 'rejected');
      }
      server.lines.length = 0;
      for (const within of [1, 1.4, 1.5, 2 ** 31, undefined]) await index.findOne(1, { within });
      const fronts = ['within\t1\t', 'within\t1\t', 'within\t2\t', 'within\t2147483648\t', ''];
      assert.deepEqual(
        server.lines.filter((request) => !request.startsWith('P')),
        fronts.map((front) => `${front}2\t=\t1\t1`),
      );
      await assert.rejects(
        client.group((on) => [on(index).delete(1, { within: 5 })]),
        isUsage,
      );
    });
  });

  test('a server that does not know it, and does the requests of a group one by one', async () => {
    await using(
      (request) => (request.startsWith('within') ? '2\t1\tcmd\n' : table(request, undefined as never)),
      {},
      async (client, _, rows) => {
        await assert.rejects(rows.insert([1], { within: 5 }), { kind: 'reply', text: 'cmd', maybeExecuted: false });
        const group = client.group((on) => [on(rows).insert([1]), on(rows).insert([2])], { within: 5 });
        await assert.rejects(group, { kind: 'protocol', sent: true, maybeExecuted: true });
      },
    );
  });

  test('is told again on another connection, and counts for the bounds until the reply', async () => {
    let times = 0;
    await using(
      (request, socket) => (request.startsWith('within') && times++ === 0 ? void socket.destroy() : table(request, socket)),
      { retryReads: 1, maxInFlight: 1 },
      async (client, server) => {
        const index = client.indexFrom(await client.describe(PLACE));
        assert.deepEqual(await Promise.all([1, 2, 3].map((id) => index.findOne(id, { within: 500 }))), [ROW, ROW, ROW]);
        assert.equal(server.lines.filter((request) => request.startsWith('within\t500\t1\t=')).length, 3);
        assert.equal(client.counters.inFlight, 0);
      },
    );
    await using(silent, {}, async (_, __, rows) => {
      const began = performance.now();
      assert.equal(await kindOf(rows.findOne(1, { within: 60_000, timeout: 50 })), 'timeout');
      assert.ok(performance.now() - began < 3000);
    });
  });
});
