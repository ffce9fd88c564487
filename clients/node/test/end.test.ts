// What can be seen of a client from outside, and its end.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import diagnostics_channel from 'node:diagnostics_channel';
import path from 'node:path';
import { suite, test } from 'node:test';
import { CONNECTION_CHANNEL, Client, REQUEST_CHANNEL, otelAttributes, otelSpanName } from '../src/index.js';
import type { ConnectionEvent, Options, RequestEvent } from '../src/index.js';
import { echo } from './answering-server.js';
import { kindOf, row, rowsOf, silent, using } from './client-kit.js';
import { pause, until } from './played-server.js';

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
    await using(
      (line) => (line.endsWith('\tgone') ? '1\t1\t121\n' : echo(line)),
      options,
      async (client, server, rows, port) => {
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
        assert.deepEqual(connections.map(({ event, route }) => `${event} ${route}`).sort(), [
          'closed read',
          'closed write',
          'connected read',
          'connected write',
        ]);
        assert.equal(published.length, events.length + connections.length);
        assert.equal(log.length, connections.length);
        const { requests, replies, errors, inFlight, connectionsMade, connectionsLost, bytesIn } = client.counters;
        assert.deepEqual([requests, replies, errors, inFlight, connectionsMade, connectionsLost], [2, 4, 1, 0, 2, 0]);
        assert.equal(bytesIn, 4 + 13 + 4 + 8);
        assert.ok(
          ![...events, ...log].some((seen) =>
            JSON.stringify(seen, (_, value: unknown) => (typeof value === 'bigint' ? '' : value)).includes('gone'),
          ),
        );
      },
    );
    diagnostics_channel.unsubscribe(REQUEST_CHANNEL, listen);
    diagnostics_channel.unsubscribe(CONNECTION_CHANNEL, listen);
  });

  test('an attempt that fails, and a connection that is lost', async () => {
    const log: string[] = [];
    await using(
      (line, socket) => (line.startsWith('1') ? void socket.destroy() : undefined),
      { logger: { warn: (line) => log.push(line) } },
      async (client, server, rows) => {
        assert.equal(await kindOf(rows.find(1)), 'lost');
        server.close();
        assert.equal(await kindOf(rows.find(1)), 'connect');
        assert.match(log[0]!, /lost \(read, 127.0.0.1:\d+\)/);
        assert.match(log.at(-1)!, /attempt_failed .*ECONNREFUSED.*, the next attempt in \d+ ms/);
        assert.equal(client.counters.connectionsLost, 1);
      },
    );
  });

  test('a hook or a logger that fails harms nobody', () => {
    const program = `
      const { Client } = require(${JSON.stringify(path.join(__dirname, '..', 'src', 'index.js'))});
      const { serving, echo } = require(${JSON.stringify(path.join(__dirname, 'answering-server.js'))});
      const seen = [];
      for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, (error) => seen.push(error.message));
      let called = 0;
      const fail = () => { called += 1; throw new Error('mine'); };
      const later = async () => { called += 1; throw new Error('mine later'); };
      serving(echo, async (server, port) => {
        for (const throws of [fail, later]) {
          const client = new Client({ port, hooks: { request: throws, connection: throws }, logger: { info: throws, warn: throws } });
          const rows = client.index({ database: 'db', table: 't', columns: ['a', 'b'] });
          await Promise.all([rows.find(1), rows.find(2)]);
          await client.close();
        }
      }).then(() => setImmediate(() => console.log(called, seen.join(' '))));`;
    // Of each client: two connections' events, told to the hook and the logger, and two requests.
    assert.equal(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8', timeout: 60_000 }), '12 \n');
  });
});

suite('a connection that ends as soon as it is made', () => {
  test('is none', async () => {
    // Behind the reply to the log-in comes something that nobody has asked for, in the same bytes.
    await using(
      (line) => (line.startsWith('A') ? '0\t1\nx' : echo(line)),
      { secret: 's', connectAttempts: 2 },
      async (_, server, rows) => {
        assert.equal(await kindOf(rows.find(1, { timeout: 2000 })), 'connect');
        assert.equal(server.connections, 2);
      },
    );
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
      await until(() => server.sockets.size === 0);
      assert.equal(server.sockets.size, 0);
    });

    // While it waits for the next attempt, and while it waits for the log-in.
    const waiting = new Client({ port: 1, backoffMin: 5000, connectAttempts: 9 });
    const attempt = kindOf(rowsOf(waiting).find(1));
    await pause(50);
    await waiting.close();
    assert.equal(await attempt, 'closed');
    await using(
      () => '',
      { secret: 's' },
      async (client, _, rows) => {
        const call = kindOf(rows.find(1));
        await pause(50);
        await client.close();
        assert.equal(await call, 'closed');
      },
    );

    let give: (word: string) => void = () => undefined;
    const slow = new Client({ user: 'u', password: () => new Promise((resolve) => (give = resolve)) });
    const call = kindOf(rowsOf(slow).find(1));
    await pause(10);
    await slow.close();
    give('late');
    assert.equal(await call, 'closed');
  });

  test('shutdown waits for what is owed, but not for ever', async () => {
    await using(
      (line, socket) => (line.startsWith('P') ? undefined : void setTimeout(() => socket.write('0\t2\t1\ttext 1\n'), 100)),
      {},
      async (client, _, rows) => {
        const owed = rows.findOne(1);
        const end = client.shutdown();
        assert.equal(await kindOf(rows.find(2)), 'closed');
        await end;
        assert.deepEqual(await owed, row(1));
      },
    );
    await using(silent, { timeout: 30_000 }, async (client, _, rows) => {
      const owed = kindOf(rows.findOne(1));
      const began = performance.now();
      await Promise.all([client.shutdown(100), client.shutdown(100)]);
      assert.ok(performance.now() - began < 10_000);
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
    assert.equal(run('console.log((await rows.find(1)).length); await client.ping();'), '1\n');
    assert.equal(
      run('rows.find(1).then((found) => console.log(found.length)); await new Promise((resolve) => setTimeout(resolve, 100));'),
      '1\n',
    );
  });
});
