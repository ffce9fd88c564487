// Names and types: what an index makes of keys, values, filters and rows.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { inspect } from 'node:util';
import { Client, HandlerSocketError } from '../src/index.js';
import type { FindOptions } from '../src/index.js';
import { serving } from './answering-server.js';
import type { Answer } from './answering-server.js';

async function using(answer: Answer, use: (client: Client, lines: string[]) => Promise<void>): Promise<void> {
  await serving(answer, async (server, port) => {
    const client = new Client({ port, portWr: port, database: 'db' });
    try {
      await use(client, server.lines);
    } finally {
      await client.close();
    }
  });
}

const modified = (): string => '0\t1\t1\n';

/** The requests without those that open indexes, of which each is named once. */
const requests = (lines: string[]): string[] => lines.filter((line) => !line.startsWith('P'));

suite('an index', () => {
  test('rows by name, with types', async () => {
    await using(
      (line) => (line.startsWith('P') ? undefined : '0\t3\t42\tAnn\t\0\n'),
      async (client) => {
        const users = client.index({ table: 'user', columns: { id: 'bigint', name: 'string', email: 'string?' } });
        const row = await users.findOne(42);
        assert.deepEqual(row, { id: 42n, name: 'Ann', email: null });
        assert.deepEqual(await users.find(42), [row]);
        assert.deepEqual(Object.keys(row!), ['id', 'name', 'email']);
      },
    );
  });

  test('rows as text, and by position', async () => {
    await using(
      (line) => (line.startsWith('P') ? undefined : '0\t2\t42\t\0\n'),
      async (client, lines) => {
        const common = { table: 'user', columns: ['id', 'name'] } as const;
        assert.deepEqual(await client.index(common).find('x'), [{ id: '42', name: null }]);
        assert.deepEqual(await client.index({ ...common, rows: 'array' }).find('x'), [['42', null]]);
        const typed = client.index({ table: 'user', columns: { id: 'number', name: 'string?' }, rows: 'array' });
        assert.deepEqual(await typed.findOne('x'), [42, null]);
        // All three are one index on the connection.
        assert.deepEqual(lines, ['P\t1\tdb\tuser\tPRIMARY\tid,name', ...Array<string>(3).fill('1\t=\t1\tx')]);
      },
    );
  });

  test('nothing is found', async () => {
    await using(
      (line) => (line.startsWith('P') ? undefined : '0\t1\n'),
      async (client) => {
        const users = client.index({ table: 'user', columns: ['id'] });
        assert.equal(await users.findOne(1), null);
        assert.deepEqual(await users.find(1), []);
      },
    );
  });

  test('keys by position and by name', async () => {
    await using(
      (line) => (line.startsWith('P') ? undefined : '0\t1\n'),
      async (client, lines) => {
        const events = client.index({ database: 'other', table: 'event', index: 'by_day', columns: { id: 'number' }, key: ['day', 'n'] });
        const dated = client.index({ table: 'event', columns: { day: 'date.utc', n: 'number' }, key: ['day', 'n'] });
        const day = new Date('2024-02-29T00:00:00Z');
        await events.find(['2024-02-29', 5n]);
        await events.find({ day: '2024-02-29', n: 5 });
        await events.find({ n: 5, day: 'x' });
        await events.find({ day: null });
        await events.find(Buffer.from('b'));
        await events.find(null);
        await events.find(true);
        const wrong = (line: string): Promise<string> => dated.find({ day }).then(String, (error: Error) => `${line}${error.message}`);
        assert.match(await wrong(''), /the reply has 1 columns, and the index 2/);
        assert.deepEqual(requests(lines), [
          '1\t=\t2\t2024-02-29\t5',
          '1\t=\t2\t2024-02-29\t5',
          '1\t=\t2\tx\t5',
          '1\t=\t1\t\0',
          '1\t=\t1\tb',
          '1\t=\t1\t\0',
          '1\t=\t1\t1',
          '2\t=\t1\t2024-02-29',
        ]);
      },
    );
  });

  test('operators, limits, filters, in', async () => {
    await using(
      (line) => (line.startsWith('P') ? undefined : '0\t1\n'),
      async (client, lines) => {
        const users = client.index({
          table: 'user',
          columns: { id: 'number' },
          filterColumns: { age: 'number', born: 'date.utc' },
          key: ['a', 'b'],
        });
        await users.find(1, { op: '>=', limit: 10 });
        await users.find(1, { limit: 2n ** 64n - 1n, offset: 3, long: false });
        await users.find(1, {
          filters: [
            ['age', '>=', 18],
            ['born', '<', new Date('2000-01-01T00:00:00Z'), 'while'],
          ],
        });
        await users.find(1, { filters: [] });
        await users.findIn([1, 2, 3]);
        await users.findIn([1, 2, 3], { limit: undefined, offset: undefined, key: undefined, part: undefined, filters: undefined });
        await users.findIn([7], { key: 'k', part: 'b' });
        await users.findIn([7, 8], { key: ['k', 'ignored'], part: 1, limit: 1, op: '<' });
        await users.find(['k'], { in: { part: 'b', values: ['x'] }, limit: 5 });
        await users.findOne(1, { op: '<', offset: 2 });
        assert.deepEqual(lines, [
          'P\t1\tdb\tuser\tPRIMARY\tid\tage,born',
          '1\t>=\t1\t1\t10',
          '1\t=\t1\t1\t18446744073709551615\t3',
          '1\t=\t1\t1\t1\t0\tF\t>=\t0\t18\tW\t<\t1\t2000-01-01',
          '1\t=\t1\t1',
          '1\t=\t1\t\t3\t0\t@\t0\t3\t1\t2\t3',
          '1\t=\t1\t\t3\t0\t@\t0\t3\t1\t2\t3',
          '1\t=\t2\tk\t\t1\t0\t@\t1\t1\t7',
          '1\t<\t2\tk\tignored\t1\t0\t@\t1\t2\t7\t8',
          '1\t=\t2\tk\t\t5\t0\t@\t1\t1\tx',
          '1\t<\t1\t1\t1\t2',
        ]);
      },
    );
  });

  test('a filter column has the type of the column', async () => {
    await using(
      (line) => (line.startsWith('P') ? undefined : '0\t1\n'),
      async (client, lines) => {
        const users = client.index({ table: 'user', columns: { at: 'datetime.utc' }, filterColumns: ['at', 'name'] });
        await users.find(1, {
          filters: [
            ['at', '=', new Date('2024-02-29T12:30:00Z')],
            ['name', '!=', null],
          ],
        });
        assert.deepEqual(requests(lines), ['1\t=\t1\t1\t1\t0\tF\t=\t0\t2024-02-29 12:30:00.000\tF\t!=\t1\t\0']);
      },
    );
  });

  test('values by name: the index is opened with their columns', async () => {
    await using(modified, async (client, lines) => {
      const users = client.index({ table: 'user', columns: { id: 'number', name: 'string', visits: 'number', at: 'datetime.utc?' } });
      await users.update(42, { name: 'Anna' });
      await users.update(42, { visits: 1, name: 'x' });
      await users.update(42, { name: 'y', visits: 2 });
      await users.update(42, { id: 43, name: 'z' });
      await users.update(42, [44]);
      await users.increment(42, { visits: 1 });
      await users.decrement(42, { visits: 2 }, { limit: 5, op: '>' });
      await users.insert({ at: new Date('2024-02-29T12:30:00Z'), id: 1 });
      await users.insert([7, 'Bob']);
      await users.delete(42);
      await users.update(42, { at: null, id: 1, name: 'x', visits: 2 });
      assert.deepEqual(lines, [
        'P\t1\tdb\tuser\tPRIMARY\tname',
        '1\t=\t1\t42\t1\t0\tU\tAnna',
        'P\t2\tdb\tuser\tPRIMARY\tname,visits',
        '2\t=\t1\t42\t1\t0\tU\tx\t1',
        '2\t=\t1\t42\t1\t0\tU\ty\t2',
        'P\t3\tdb\tuser\tPRIMARY\tid,name',
        '3\t=\t1\t42\t1\t0\tU\t43\tz',
        'P\t4\tdb\tuser\tPRIMARY\tid,name,visits,at',
        '4\t=\t1\t42\t1\t0\tU\t44',
        'P\t5\tdb\tuser\tPRIMARY\tvisits',
        '5\t=\t1\t42\t1\t0\t+\t1',
        '5\t>\t1\t42\t5\t0\t-\t2',
        'P\t6\tdb\tuser\tPRIMARY\tid,at',
        '6\t+\t2\t1\t2024-02-29 12:30:00.000',
        '4\t+\t2\t7\tBob',
        '4\t=\t1\t42\t1\t0\tD',
        '4\t=\t1\t42\t1\t0\tU\t1\tx\t2\t\0',
      ]);
    });
  });

  test('the rows before a modification have all columns', async () => {
    await using(
      (line) =>
        line.startsWith('P')
          ? undefined
          : line.includes('U?') || line.includes('+?') || line.includes('-?')
            ? '0\t2\tAnn\t42\n'
            : '0\t2\t42\tAnn\n',
      async (client, lines) => {
        const users = client.index({ table: 'user', columns: { id: 'number', name: 'string' } });
        const before = [{ id: 42, name: 'Ann' }];
        assert.deepEqual(await users.fetchAndUpdate(42, { name: 'x' }), before);
        assert.deepEqual(await users.fetchAndIncrement(42, { name: 1 }), before);
        assert.deepEqual(await users.fetchAndDecrement(42, { name: 1 }), before);
        assert.deepEqual(await users.fetchAndDelete(42), before);
        assert.deepEqual(requests(lines), [
          '1\t=\t1\t42\t1\t0\tU?\tx',
          '1\t=\t1\t42\t1\t0\t+?\t1',
          '1\t=\t1\t42\t1\t0\t-?\t1',
          '2\t=\t1\t42\t1\t0\tD?',
        ]);
      },
    );
  });

  test('an empty list for in gives nothing, and sends nothing', async () => {
    await using(modified, async (client, lines) => {
      const users = client.index({ table: 'user', columns: ['id'] });
      const none = { in: { values: [] } };
      assert.deepEqual(await users.findIn([]), []);
      assert.deepEqual(await users.find(1, none), []);
      assert.equal(await users.findOne(1, none), null);
      assert.equal(await users.delete(1, none), 0);
      assert.equal(await users.update(1, ['x'], none), 0);
      assert.deepEqual(await users.fetchAndDelete(1, none), []);
      assert.deepEqual(lines, []);
    });
  });

  test('what cannot be meant is refused before anything is sent', async () => {
    await using(modified, async (client, lines) => {
      const users = client.index({ table: 'user', columns: { id: 'number', name: 'string' }, filterColumns: ['age'], key: ['id', 'x'] });
      const loose = users as unknown as Record<string, (...values: unknown[]) => Promise<unknown>>;
      const wrong: [string, ...unknown[]][] = [
        ['find', undefined],
        ['find', []],
        ['find', {}],
        ['find', { x: 1 }],
        ['find', { id: 1, y: 2 }],
        ['find', [1, undefined]],
        ['find', new Date()],
        ['find', 2 ** 53],
        ['find', NaN],
        ['find', 1, { op: '==' }],
        ['find', 1, { op: '!=' }],
        ['find', 1, { op: null }],
        ['find', 1, { limit: -1 }],
        ['find', 1, { limit: 0 }],
        ['find', 1, { limit: 0n }],
        ['find', 1, { limit: 0, in: { values: [] } }],
        ['findIn', [1], { limit: 0 }],
        ['findIn', [], { limit: 0 }],
        ['count', 1, { limit: 0 }],
        ['count', 1, { limit: 0n, in: { values: [] } }],
        ['exists', 1, { limit: 0 }],
        ['update', 1, { id: 1 }, { limit: 0 }],
        ['delete', 1, { limit: 0 }],
        ['delete', 1, { limit: 0, in: { values: [] } }],
        ['increment', 1, { id: 1 }, { limit: 0 }],
        ['fetchAndDelete', 1, { limit: 0 }],
        ['updateAndFetch', 1, { id: 1 }, { limit: 0 }],
        ['find', 1, { limit: 1.5 }],
        ['find', 1, { limit: '5' }],
        ['find', 1, { limit: 2n ** 64n }],
        ['find', 1, { offset: -1 }],
        ['find', 1, { filters: [['nosuch', '=', 1]] }],
        ['find', 1, { filters: [['id', '=', 1]] }],
        ['find', 1, { filters: [['age', '<>', 1]] }],
        ['find', 1, { filters: [['age', '=', 1, 'until']] }],
        ['find', 1, { filters: [['age', '=']] }],
        ['find', 1, { filters: ['age'] }],
        ['find', 1, { in: { values: 'abc' } }],
        ['find', 1, { in: { part: 2, values: [1] } }],
        ['find', 1, { in: { part: -1, values: [1] } }],
        ['find', 1, { in: { part: 'nosuch', values: [1] } }],
        ['find', 1, { in: { values: [{}] } }],
        ['find', 1, { timeout: -1 }],
        ['find', 1, { timeout: '5s' }],
        ['findIn', 'abc'],
        ['insert', []],
        ['insert', {}],
        ['insert', 'abc'],
        ['insert', null],
        ['insert', [1, 'x', 3]],
        ['insert', { nosuch: 1 }],
        ['insert', { id: undefined }],
        ['update', 1, {}],
        ['update', 1, []],
        ['update', 1, 'abc'],
        ['update', 1, { nosuch: 1 }],
        ['update', 1, { name: 'half a pair \udc00' }],
        ['increment', 1],
      ];
      for (const [method, ...values] of wrong) {
        const error: unknown = await loose[method]!(...values).catch((caught: unknown) => caught);
        assert.ok(error instanceof HandlerSocketError && error.kind === 'usage', `${method} ${inspect(values)}: ${String(error)}`);
        assert.deepEqual([error.sent, error.maybeExecuted, error.safeToRetry], [false, false, true]);
      }
      assert.throws(() => users.iterate(1, { limit: 0 }), { kind: 'usage' });
      assert.deepEqual(lines, []);
    });
  });

  test('an index that cannot be meant is refused at once', async () => {
    const client = new Client({ database: 'db' });
    const wrong: unknown[] = [
      {},
      { table: '', columns: [] },
      { table: 'a\tb', columns: [] },
      { table: 't', columns: ['a,b'] },
      { table: 't', columns: ['a\n'] },
      { table: 't', columns: [''] },
      { table: 't', columns: 'a,b' },
      { table: 't', columns: null },
      { table: 't', columns: { a: 'text' } },
      { table: 't', columns: ['a', 'a'] },
      { table: 't', columns: ['__proto__'] },
      { table: 't', columns: ['a'], index: 'a\0' },
      { table: 't', columns: ['a'], database: '' },
      { table: 't', columns: ['a'], filterColumns: ['x\ty'] },
      { table: 't', columns: ['a'], rows: 'map' },
      { table: 't', columns: ['a'], filter: ['x'] },
    ];
    for (const options of wrong) {
      assert.throws(
        () => client.index(options as { table: string; columns: [] }),
        (error) => error instanceof HandlerSocketError && error.kind === 'usage',
        JSON.stringify(options),
      );
    }
    assert.throws(() => new Client().index({ table: 't', columns: ['a'] }), /needs the name of its database/);
    client.index({ table: 't', columns: ['a', 'a', '__proto__'], rows: 'array' });
    await client.close();
  });

  test('without a port for writing, a modification is refused', async () => {
    const client = new Client({ port: 1, database: 'db' });
    const users = client.index({ table: 'user', columns: ['id'] });
    await assert.rejects(users.delete(1), /needs a port for writing/);
    await client.close();
  });

  test('the options of a find are typed', () => {
    const client = new Client({ database: 'db' });
    const users = client.index({ table: 'user', columns: { id: 'bigint', name: 'string?' }, filterColumns: ['age'], key: ['id'] });
    const check = async (): Promise<void> => {
      const row = await users.findOne(1);
      const name: string | null | undefined = row?.name;
      const id: bigint = row!.id;
      // @ts-expect-error: no such column
      void row?.email;
      // @ts-expect-error: no such option
      await users.find(1, { limt: 1 });
      // @ts-expect-error: no such filter column
      await users.find(1, { filters: [['name', '=', 1]] });
      // @ts-expect-error: no such part of the key
      await users.find({ name: 'x' });
      // @ts-expect-error: no such column
      await users.update(1, { nme: 'x' });
      const text = await client.index({ table: 'user', columns: ['id'] }).findOne(1);
      const asText: string | null = text!.id;
      interface User {
        id: bigint;
        name: string;
        email: string | null;
      }
      const typed = client.index<User>({ table: 'user', columns: { id: 'bigint', name: 'string', email: 'string?' } });
      const user: User | null = await typed.findOne(1);
      // @ts-expect-error: a bigint cannot be read as a number
      client.index<User>({ table: 'user', columns: { id: 'number', name: 'string', email: 'string?' } });
      // @ts-expect-error: a name cannot be NULL
      client.index<User>({ table: 'user', columns: { id: 'bigint', name: 'string?', email: 'string?' } });
      const [one, two] = await client.pipeline((on) => [on(users).findOne(1), on(users).update(1, { name: 'x' })]);
      if (one.status === 'fulfilled') void one.value?.name;
      if (two.status === 'fulfilled') void (two.value satisfies number);
      const options: FindOptions<'age'> = { filters: [['age', '>', 1, 'while']] };
      void [name, id, asText, user, options];
    };
    assert.equal(typeof check, 'function');
  });
});
