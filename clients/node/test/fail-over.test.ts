// What a client with several addresses does while it goes from one to another. The scenarios have the rest.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { suite, test } from 'node:test';
import type { RequestEvent } from '../src/index.js';
import { Client } from '../src/index.js';
import { echo, serving } from './answering-server.js';
import type { Answer } from './answering-server.js';
import { kindOf, row, rowsOf } from './client-kit.js';
import { until } from './played-server.js';

const refusing =
  (text: string): Answer =>
  (line) =>
    line.startsWith('A') ? `3\t1\t${text}\n` : echo(line);
const both = (ports: readonly number[]) => ports.map((port) => ({ port, portWr: port }));

suite('a log-in that is refused', () => {
  test('at one address: the others are tried in the same attempt', async () => {
    await serving(refusing('unauth'), async (_, one) => {
      await serving(echo, async (__, two) => {
        const client = new Client({ addresses: both([one, two]), secret: 's', connectAttempts: 1 });
        assert.deepEqual(await rowsOf(client).findOne(1), row(1));
        assert.equal(await rowsOf(client).delete(1), 1);
        await client.close();
      });
    });
  });

  test('at all of them: the error is that of the first, and comes at once', async () => {
    await serving(refusing('unauth'), async (first, one) => {
      await serving(refusing('1045'), async (second, two) => {
        const client = new Client({ addresses: both([one, two]), secret: 's', timeout: 2000 });
        await assert.rejects(rowsOf(client).findOne(1), { kind: 'log_in', text: 'unauth' });
        assert.deepEqual([first.connections, second.connections], [1, 1]);
        await client.close();
      });
    });
  });

  test('at one, and the other cannot be reached: what lasts is the error', async () => {
    await serving(refusing('unauth'), async (_, one) => {
      const client = new Client({ addresses: both([one, 1]), secret: 's', timeout: 2000 });
      await assert.rejects(rowsOf(client).findOne(1), { kind: 'log_in', text: 'unauth' });
      await client.close();
    });
  });
});

suite('a server that takes connections and answers nobody', () => {
  const resets: Answer = (_, socket) => void socket.resetAndDestroy();

  test('is passed over, whatever the request was', async () => {
    await serving(resets, async (first, one) => {
      await serving(echo, async (_, two) => {
        for (const ask of [(rows) => rows.findOne(1), (rows) => rows.delete(1), (rows) => rows.iterate(1).next()] as ((
          rows: ReturnType<typeof rowsOf>,
        ) => Promise<unknown>)[]) {
          const told: string[] = [];
          const client = new Client({
            addresses: both([one, two]),
            hooks: { connection: ({ event, address }) => told.push(`${event} ${address}`) },
          });
          const before = first.connections;
          assert.equal(await kindOf(ask(rowsOf(client))), 'lost');
          assert.equal(await kindOf(ask(rowsOf(client))), 'fulfilled');
          assert.equal(first.connections, before + 1);
          const [from, to] = [`127.0.0.1:${one}`, `127.0.0.1:${two}`];
          assert.deepEqual(told, [`connected ${from}`, `lost ${from}`, `fail_over ${from}`, `connected ${to}`]);
          await client.close();
        }
      });
    });
  });

  test('one that has answered is asked again', async () => {
    let asked = 0;
    await serving(
      (line, socket) => (line.startsWith('P') || ++asked === 1 ? echo(line) : resets(line, socket)),
      async (first, one) => {
        await serving(echo, async (second, two) => {
          const client = new Client({ addresses: both([one, two]), connectAttempts: 1 });
          assert.deepEqual(await rowsOf(client).findOne(1), row(1));
          assert.equal(await kindOf(rowsOf(client).findOne(1)), 'lost');
          assert.equal(await kindOf(rowsOf(client).findOne(1)), 'lost');
          // That one had answered nobody.
          assert.deepEqual(await rowsOf(client).findOne(1), row(1));
          assert.deepEqual([first.connections, second.connections], [2, 1]);
          await client.close();
        });
      },
    );
  });

  test('with one address it stays the one', async () => {
    await serving(resets, async (server, port) => {
      const client = new Client({ port, portWr: port, backoffMin: 1, backoffMax: 1 });
      for (let i = 0; i < 3; i++) assert.equal(await kindOf(rowsOf(client).findOne(1)), 'lost');
      assert.equal(server.connections, 3);
      await client.close();
    });
  });
});

suite("readAfterWrite 'sent'", () => {
  test('a write counts although its connection is to a former address', async () => {
    let find: Socket | undefined;
    let write: Socket | undefined;
    const held: Answer = (line, socket) => {
      if (line.startsWith('P')) return undefined;
      if (line.endsWith('\tD')) write = socket;
      else find = socket;
      return undefined;
    };
    await serving(held, async (_, one) => {
      await serving(echo, async (__, two) => {
        const routes: RequestEvent['route'][] = [];
        const client = new Client({
          addresses: both([one, two]),
          readAfterWrite: 'sent',
          timeout: 5000,
          hooks: { request: ({ route }) => routes.push(route) },
        });
        const rows = rowsOf(client);
        const early = rows.findOne(1);
        await until(() => find !== undefined);
        const late = kindOf(rows.delete(1));
        await until(() => write !== undefined);
        // Now requests go to the other address, and the write is still owed.
        find!.write('1\t1\t1290\n');
        assert.deepEqual(await early, row(1));
        assert.deepEqual(await rows.findOne(2), row(2));
        write!.write('0\t1\t1\n');
        assert.equal(await late, 'fulfilled');
        assert.deepEqual(await rows.findOne(3), row(3));
        assert.deepEqual(routes, ['read', 'write', 'write', 'read']);
        await client.close();
      });
    });
  });
});
