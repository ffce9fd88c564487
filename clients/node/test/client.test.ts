// Life of a client: its connections, bounds, deadlines, pipelines, hooks, and its end.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import diagnostics_channel from 'node:diagnostics_channel';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite, test } from 'node:test';
import { isLoopback } from '../src/dial.js';
import { CONNECTION_CHANNEL, Client, HandlerSocketError, REQUEST_CHANNEL, otelAttributes, otelSpanName } from '../src/index.js';
import type { ConnectionEvent, Options, RequestEvent } from '../src/index.js';
import { AnsweringServer, echo, serving } from './answering-server.js';
import type { Answer } from './answering-server.js';
import { pause } from './played-server.js';

const COLUMNS = { id: 'number', text: 'string' } as const;

const rowsOf = (client: Client) => client.index({ database: 'db', table: 't', columns: COLUMNS });

async function using(
  answer: Answer,
  options: Options,
  use: (client: Client, server: AnsweringServer, rows: ReturnType<typeof rowsOf>, port: number) => Promise<void>,
): Promise<void> {
  await serving(answer, async (server, port) => {
    const client = new Client({ port, portWr: port, backoffMin: 1, backoffMax: 10, timeout: 5000, ...options });
    try {
      await use(client, server, rowsOf(client), port);
    } finally {
      await client.close();
    }
  });
}

const row = (id: number): { id: number; text: string } => ({ id, text: `text ${id}` });
const kindOf = (promise: Promise<unknown>): Promise<string> => promise.then(() => 'fulfilled', (error: HandlerSocketError) => error.kind);
/** Answers nothing but P. */
const silent: Answer = () => undefined;

suite('one client for many callers', () => {
  test('each gets its own row, in few writes', async () => {
    await using(echo, {}, async (client, server, rows) => {
      await rows.find(0);
      const before = client.counters.socketWrites;
      const ids = Array.from({ length: 1000 }, (_, i) => i);
      assert.deepEqual(await Promise.all(ids.map((id) => rows.findOne(id))), ids.map(row));
      const writes = client.counters.socketWrites - before;
      assert.ok(writes <= 1000 / 64 + 1, `${writes} writes`);
      assert.equal(server.connections, 1);
    });
  });

  test('as many connections as the options say, the one with the fewest requests first', async () => {
    await using(silent, { readConnections: 3 }, async (_, server, rows) => {
      const calls = Array.from({ length: 6 }, (_, i) => kindOf(rows.findOne(i, { timeout: 200 })));
      await Promise.all(calls);
      assert.equal(server.connections, 3);
    });
  });

  test('a long find has a connection of its own', async () => {
    await using((line) => (line.endsWith('\t1000') || line.endsWith('\t5') ? undefined : echo(line)), {}, async (_, server, rows) => {
      const long = [rows.find(1, { op: '>=', limit: 1000, timeout: 300 }), rows.find(1, { op: '>=', limit: 5, long: true, timeout: 300 })].map(kindOf);
      await pause(50);
      assert.deepEqual(await rows.findOne(7), row(7));
      assert.equal(server.connections, 2);
      assert.deepEqual(await Promise.all(long), ['timeout', 'timeout']);
    });
  });

  test('over a Unix socket', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'hs-'));
    const server = new AnsweringServer(echo);
    await server.listen(path.join(folder, 's'));
    const client = new Client(`handlersocket:///db?socket_wr=${encodeURIComponent(path.join(folder, 's'))}`);
    try {
      assert.deepEqual(await rowsOf(client).findOne(1), row(1));
      assert.equal(await rowsOf(client).delete(1), 1);
      assert.equal(server.connections, 2);
    } finally {
      await client.close();
      server.close();
      rmSync(folder, { recursive: true });
    }
  });

  test('a password comes from a function, at each log-in', async () => {
    let asked = 0;
    const password = async (): Promise<string> => `word ${++asked}`;
    await using(echo, { user: 'ann', password }, async (client, server, rows) => {
      await client.ping();
      await rows.delete(1);
      assert.deepEqual(server.lines.filter((line) => line.startsWith('A')).sort(), ['A\t2\tann\tword 1', 'A\t2\tann\tword 2']);
    });
    const failing = (): string => assert.fail('the vault is closed');
    await using(echo, { user: 'ann', password: failing }, async (_, server, rows) => {
      await assert.rejects(rows.find(1), (error) => error instanceof HandlerSocketError && error.kind === 'connect' && !/vault/.test(error.message));
      assert.deepEqual(server.lines, []);
    });
  });

  test('a password is for plain TCP on this machine only', () => {
    for (const address of [undefined, '127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1']) assert.ok(isLoopback(address), address);
    for (const address of ['10.0.0.1', '1.127.0.0', '::2', '::ffff:10.127.0.1', 'fe80::1', '']) assert.ok(!isLoopback(address), address);
  });

  test('reads from any address, or from those that are not the writer', async () => {
    await serving(echo, async (one, portOne) => {
      await serving(echo, async (two, portTwo) => {
        const addresses = [portOne, portTwo].map((port) => ({ port, portWr: port }));
        for (let i = 0; i < 5; i++) {
          const client = new Client({ addresses, readFrom: 'replicas' });
          await rowsOf(client).find(1);
          await rowsOf(client).delete(1);
          await client.close();
        }
        assert.deepEqual([one.connections, two.connections], [5, 5]);
        two.close();
        const client = new Client({ addresses, readFrom: 'replicas' });
        // Nothing else can be reached.
        assert.deepEqual(await rowsOf(client).findOne(1), row(1));
        await client.close();
      });
    });
  });
});

suite('bounds', () => {
  test('callers wait in their order', async () => {
    await using(echo, { maxInFlight: 7 }, async (client, _, rows) => {
      const order: number[] = [];
      await Promise.all(Array.from({ length: 100 }, (_, i) => rows.findOne(i).then((found) => order.push(found!.id))));
      assert.deepEqual(order, Array.from({ length: 100 }, (_, i) => i));
      assert.ok(client.counters.socketWrites > 100 / 7);
    });
  });

  test('bytes are bounded, too, and one that is larger goes alone', async () => {
    await using(echo, { maxInFlightBytes: 100 }, async (_, server, rows) => {
      const large = 'x'.repeat(300);
      const loose = rows as unknown as { find(key: string): Promise<unknown> };
      const results = await Promise.allSettled([loose.find('1'), loose.find(large), loose.find('2')]);
      assert.deepEqual(results.map(({ status }) => status), ['fulfilled', 'rejected', 'fulfilled']);
      assert.equal(server.lines.length, 4);
    });
  });

  test('or they fail at once', async () => {
    await using(silent, { maxInFlight: 3, whenFull: 'fail' }, async (client, _, rows) => {
      const early = Array.from({ length: 5 }, (_, i) => kindOf(rows.findOne(i, { timeout: 300 })));
      const pipeline = (await client.pipeline((on) => [on(rows).find(1), on(rows).find(2)])).map((result) => result.status);
      assert.deepEqual(await Promise.all(early), ['timeout', 'timeout', 'timeout', 'busy', 'busy']);
      assert.deepEqual(pipeline, ['rejected', 'rejected']);
    });
  });

  test('what cannot be sent now is not sent, and can be given up', async () => {
    // 40 MB do not fit into the buffers of the operating system.
    const large = Buffer.alloc(40_000_000, 'x');
    await serving((_, socket) => void socket.pause(), async (server, port) => {
      const client = new Client({ port, portWr: port, maxInFlightBytes: 1 << 30 });
      const rows = client.index({ database: 'db', table: 't', columns: { a: 'bytes' } });
      const first = rows.insert([large], { timeout: 400 });
      await pause(100);
      const second = rows.insert(['y'], { timeout: 200 });
      const ends = await Promise.all([first, second].map((call) => call.catch((error: HandlerSocketError) => [error.kind, error.sent, error.maybeExecuted])));
      assert.deepEqual(ends, [
        ['timeout', true, true],
        ['timeout', false, false],
      ]);
      await client.close();
      assert.equal(server.connections, 1);
    });
  });
});

suite('giving up', () => {
  test('a signal that was given before', async () => {
    await using(echo, {}, async (_, server, rows) => {
      const reason = new Error('no more');
      const error: unknown = await rows.find(1, { signal: AbortSignal.abort(reason) }).catch((caught: unknown) => caught);
      assert.ok(error instanceof HandlerSocketError);
      assert.deepEqual([error.kind, error.name, error.sent, error.cause], ['cancelled', 'AbortError', false, reason]);
      assert.equal(server.connections, 0);
    });
  });

  test('before anything was written: it is never sent', async () => {
    await using(echo, {}, async (client, server, rows) => {
      await rows.find(1);
      const abort = new AbortController();
      const call = kindOf(rows.find(2, { signal: abort.signal }));
      abort.abort();
      assert.equal(await call, 'cancelled');
      assert.deepEqual(await rows.findOne(3), row(3));
      assert.deepEqual(server.lines.slice(1), ['1\t=\t1\t1', '1\t=\t1\t3']);
      assert.equal(client.counters.givenUp, 1);
    });
  });

  test('a signal that is used for many calls has one listener, and keeps none of them', async () => {
    await using(echo, {}, async (_, __, rows) => {
      let listeners = 0;
      const { signal } = new AbortController();
      const add = signal.addEventListener.bind(signal);
      const remove = signal.removeEventListener.bind(signal);
      signal.addEventListener = (...all: Parameters<typeof add>) => (listeners++, add(...all));
      signal.removeEventListener = (...all: Parameters<typeof remove>) => (listeners--, remove(...all));
      const calls = Array.from({ length: 50 }, (_, i) => rows.find(i, { signal }));
      assert.equal(listeners, 1);
      await Promise.all(calls);
      assert.equal(listeners, 0);
    });
  });

  test('beside many requests that are given up, no caller gets a wrong row', async () => {
    await using(echo, {}, async (client, _, rows) => {
      for (let round = 0; round < 20; round++) {
        const abort = new AbortController();
        const lost = Array.from({ length: 500 }, (_, i) => kindOf(rows.findOne(i, { signal: abort.signal })));
        await Promise.resolve();
        abort.abort();
        assert.deepEqual(await rows.findOne(round), row(round));
        assert.ok((await Promise.all(lost)).every((kind) => kind === 'cancelled'));
      }
      assert.equal(client.counters.inFlight, 0);
      assert.ok(client.counters.repliesDropped > 0);
    });
  });

  test('while the program is busy with itself, replies do not come too late', async () => {
    await using((line) => (line.startsWith('P') ? undefined : `${echo(line)}`), {}, async (_, __, rows) => {
      await rows.find(1);
      const call = kindOf(rows.findOne(2, { timeout: 300 }));
      await pause(0);
      for (const end = performance.now() + 700; performance.now() < end; );
      assert.equal(await call, 'fulfilled');
    });
  });
});

suite('a pipeline', () => {
  test('stays together although the bound cuts it', async () => {
    await using(echo, { maxInFlight: 2 }, async (client, server, rows) => {
      const others = [rows.find(90), rows.find(91), rows.find(92)];
      const results = await client.pipeline((on) => [1, 2, 3, 4, 5].map((id) => on(rows).findOne(id)));
      await Promise.all(others);
      assert.deepEqual(results.map((result) => (result.status === 'fulfilled' ? result.value : null)), [1, 2, 3, 4, 5].map(row));
      assert.deepEqual(server.lines.slice(1).map((line) => Number(line.split('\t')[3])), [90, 91, 92, 1, 2, 3, 4, 5]);
    });
  });

  test('its requests can be looked at one by one', async () => {
    await using((line) => (line.endsWith('\t2') ? '2\t1\tkpnum\n' : echo(line)), {}, async (client, _, rows) => {
      let one: Promise<unknown> | undefined;
      let two: Promise<unknown> | undefined;
      await client.pipeline((on) => [(one = on(rows).findOne(1)), (two = on(rows).findOne(2)), 'no request']);
      assert.deepEqual(await one, row(1));
      await assert.rejects(two!, /kpnum/);
    });
  });

  test('a function that fails sends nothing', async () => {
    await using(echo, {}, async (client, server, rows) => {
      let late: Promise<unknown> | undefined;
      let keep: (<I>(index: I) => I) | undefined;
      const build = (on: <I>(index: I) => I): never => {
        keep = on;
        late = on(rows).find(1);
        throw new Error('my own');
      };
      await assert.rejects(client.pipeline(build), /my own/);
      assert.equal(await kindOf(late!), 'usage');
      assert.equal(await kindOf(keep!(rows).find(1)), 'usage');
      await assert.rejects(client.pipeline((() => 7) as unknown as () => []), /gives an array/);
      await assert.rejects(client.pipeline((on) => [on({})]), /an index of this package/);
      await assert.rejects(client.pipeline((on) => [on(rows).iterate(1)]), /cannot iterate/);
      assert.deepEqual(server.lines, []);
      assert.deepEqual(await client.pipeline(() => []), []);
    });
  });
});

suite('to be seen from outside', () => {
  test('hooks, channels, counters, names for OpenTelemetry', async () => {
    const events: RequestEvent[] = [];
    const connections: ConnectionEvent[] = [];
    const published: unknown[] = [];
    const log: string[] = [];
    const listen = (event: unknown): void => void published.push(event);
    diagnostics_channel.subscribe(REQUEST_CHANNEL, listen);
    diagnostics_channel.subscribe(CONNECTION_CHANNEL, listen);
    const options: Options = {
      hooks: { request: (event) => events.push(event), connection: (event) => connections.push(event) },
      logger: { info: (line) => log.push(line), warn: (line) => log.push(`warning: ${line}`) },
    };
    await using((line) => (line.endsWith('\tgone') ? '1\t1\t121\n' : echo(line)), options, async (client, server, rows, port) => {
      await rows.find(1);
      await assert.rejects(rows.insert([1, 'gone']));
      for (const socket of server.sockets) socket.destroy();
      await pause(50);
      const [find, insert] = events;
      assert.deepEqual(
        { ...find!, milliseconds: 0 },
        {
          operation: 'find',
          database: 'db',
          table: 't',
          index: 'PRIMARY',
          address: `127.0.0.1:${port}`,
          route: 'read',
          milliseconds: 0,
          bytesOut: 8,
          bytesIn: 13,
          rows: 1,
          error: null,
        },
      );
      assert.ok(find!.milliseconds > 0 && find!.milliseconds < 5000);
      assert.deepEqual([insert!.operation, insert!.route, insert!.error?.kind], ['insert', 'write', 'reply']);
      assert.equal(otelSpanName(insert!), 'insert t');
      assert.deepEqual(otelAttributes(insert!), {
        'db.system.name': 'handlersocket',
        'db.namespace': 'db',
        'db.collection.name': 't',
        'db.operation.name': 'insert',
        'server.address': '127.0.0.1',
        'server.port': port,
        'error.type': '121',
        'db.response.status_code': '121',
      });
      assert.deepEqual(connections.map(({ event, route }) => `${event} ${route}`).sort(), ['closed read', 'closed write', 'connected read', 'connected write']);
      assert.equal(published.length, events.length + connections.length);
      assert.equal(log.length, connections.length);
      const { requests, replies, errors, inFlight, connectionsMade, connectionsLost, bytesIn } = client.counters;
      assert.deepEqual([requests, replies, errors, inFlight, connectionsMade, connectionsLost], [2, 4, 1, 0, 2, 0]);
      assert.equal(bytesIn, 4 + 13 + 4 + 8);
      assert.ok(![...events, ...log].some((seen) => JSON.stringify(seen, (_, value: unknown) => (typeof value === 'bigint' ? '' : value)).includes('gone')));
    });
    diagnostics_channel.unsubscribe(REQUEST_CHANNEL, listen);
    diagnostics_channel.unsubscribe(CONNECTION_CHANNEL, listen);
  });

  test('an attempt that fails, and a connection that is lost', async () => {
    const log: string[] = [];
    await using((line, socket) => (line.startsWith('1') ? void socket.destroy() : undefined), { logger: { warn: (line) => log.push(line) } }, async (client, server, rows) => {
      assert.equal(await kindOf(rows.find(1)), 'lost');
      server.close();
      assert.equal(await kindOf(rows.find(1)), 'connect');
      assert.match(log[0]!, /lost \(read, 127.0.0.1:\d+\)/);
      assert.match(log.at(-1)!, /attempt_failed .*ECONNREFUSED.*, the next attempt in \d+ ms/);
      assert.equal(client.counters.connectionsLost, 1);
    });
  });

  test('a hook that fails does not stop the client', () => {
    const program = `
      const { Client } = require(${JSON.stringify(path.join(__dirname, '..', 'src', 'index.js'))});
      const { serving, echo } = require(${JSON.stringify(path.join(__dirname, 'answering-server.js'))});
      const seen = [];
      process.on('uncaughtException', (error) => seen.push(error.message));
      serving(echo, async (server, port) => {
        const hooks = { request() { throw new Error('request'); }, connection() { throw new Error('connection'); } };
        const client = new Client({ port, hooks });
        const rows = client.index({ database: 'db', table: 't', columns: ['a', 'b'] });
        await Promise.all([rows.find(1), rows.find(2)]);
        await client.close();
      }).then(() => console.log(seen.sort().join(' ')));`;
    assert.equal(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8', timeout: 20_000 }), 'connection connection request request\n');
  });
});

suite('the end', () => {
  test('closing in every state', async () => {
    const unused = new Client();
    await unused.close();
    await unused.close();
    assert.equal(await kindOf(unused.index({ database: 'db', table: 't', columns: ['a'] }).find(1)), 'closed');
    assert.equal(await kindOf(unused.ping()), 'closed');

    await using(silent, {}, async (client, _, rows) => {
      const iteration = rows.iterate(1);
      const calls = [rows.find(1), rows.insert([1]), iteration.next(), client.ping()].map(kindOf);
      await client.close();
      assert.deepEqual(await Promise.all(calls), ['closed', 'closed', 'closed', 'closed']);
      assert.equal(await kindOf(rows.iterate(1).next()), 'closed');
    });

    await using(silent, { maxInFlight: 1, maxStreams: 1 }, async (client, server, rows) => {
      const calls = [rows.find(1), rows.find(2), rows.iterate(1).next(), rows.iterate(2).next()].map(kindOf);
      await pause(50);
      await client.close();
      assert.deepEqual(await Promise.all(calls), ['closed', 'closed', 'closed', 'closed']);
      await pause(50);
      assert.equal(server.sockets.size, 0);
    });

    // While it waits for the next attempt, and while it waits for the log-in.
    const waiting = new Client({ port: 1, backoffMin: 5000, connectAttempts: 9 });
    const attempt = kindOf(rowsOf(waiting).find(1));
    await pause(50);
    await waiting.close();
    assert.equal(await attempt, 'closed');
    await using(() => '', { secret: 's' }, async (client, _, rows) => {
      const call = kindOf(rows.find(1));
      await pause(50);
      await client.close();
      assert.equal(await call, 'closed');
    });

    let give: (word: string) => void = () => undefined;
    const slow = new Client({ user: 'u', password: () => new Promise((resolve) => (give = resolve)) });
    const call = kindOf(rowsOf(slow).find(1));
    await pause(10);
    await slow.close();
    give('late');
    assert.equal(await call, 'closed');
  });

  test('shutdown waits for what is owed, but not for ever', async () => {
    await using((line, socket) => (line.startsWith('P') ? undefined : void setTimeout(() => socket.write('0\t2\t1\ttext 1\n'), 100)), {}, async (client, _, rows) => {
      const owed = rows.findOne(1);
      const end = client.shutdown();
      assert.equal(await kindOf(rows.find(2)), 'closed');
      await end;
      assert.deepEqual(await owed, row(1));
    });
    await using(silent, {}, async (client, _, rows) => {
      const owed = kindOf(rows.findOne(1));
      const began = performance.now();
      await Promise.all([client.shutdown(100), client.shutdown(100)]);
      assert.ok(performance.now() - began < 2000);
      assert.equal(await owed, 'closed');
    });
    await using(echo, {}, async (client, _, rows) => {
      await rows.find(1);
      await client[Symbol.asyncDispose]();
      assert.equal(await kindOf(rows.find(2)), 'closed');
    });
  });

  test('an idle client does not keep the process alive, and one that waits does', () => {
    const program = (use: string): string => `
      const { Client } = require(${JSON.stringify(path.join(__dirname, '..', 'src', 'index.js'))});
      const { AnsweringServer, echo } = require(${JSON.stringify(path.join(__dirname, 'answering-server.js'))});
      (async () => {
        const server = new AnsweringServer((line, socket) => line.startsWith('P') ? undefined : void setTimeout(() => socket.write(echo(line)), 300));
        const port = await server.listen();
        server.server.unref();
        const client = new Client({ port, portWr: port });
        const rows = client.index({ database: 'db', table: 't', columns: ['a', 'b'] });
        ${use}
        for (const socket of server.sockets) socket.unref();
      })();`;
    const run = (use: string): string => execFileSync(process.execPath, ['-e', program(use)], { encoding: 'utf8', timeout: 20_000 });
    assert.equal(run("console.log((await rows.find(1)).length); await client.ping();"), '1\n');
    assert.equal(run("rows.find(1).then((found) => console.log(found.length)); await new Promise((resolve) => setTimeout(resolve, 100));"), '1\n');
  });
});
