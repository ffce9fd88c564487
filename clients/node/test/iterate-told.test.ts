// What an iteration tells of itself, and where it goes.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Client } from '../src/index.js';
import type { Counters, Index, Options, RequestEvent } from '../src/index.js';
import { AnsweringServer } from './answering-server.js';
import type { Answer } from './answering-server.js';
import { kindOf } from './client-kit.js';

interface Row {
  id: number;
  text: string;
}

type Rows = Index<Row, Row, string, string>;

const OPENED = '0\t1\n';
const HEAD = '0\t2\t1\tone\t2\ttwo';

/** What is told of iterations of a client of these servers. */
async function told(answers: Answer[], options: Options, use: (rows: Rows) => Promise<unknown>): Promise<[RequestEvent[], Counters]> {
  const servers = answers.map((answer) => new AnsweringServer(answer));
  const events: RequestEvent[] = [];
  const ports = await Promise.all(servers.map((server) => server.listen()));
  const addresses = ports.map((port) => ({ host: '127.0.0.1', port }));
  const hooks = { request: (event: RequestEvent) => void events.push(event) };
  const client = new Client({ addresses, timeout: 5000, hooks, ...options });
  try {
    await use(client.index<Row>({ database: 'db', table: 't', columns: { id: 'number', text: 'string' } }));
    return [events, { ...client.counters }];
  } finally {
    await client.close();
    for (const server of servers) server.close();
  }
}

const answering =
  (reply: string): Answer =>
  (line) =>
    line.startsWith('P') ? undefined : reply;

async function drain(rows: Rows): Promise<number[]> {
  const found: number[] = [];
  for await (const { id } of rows.iterate(0, { limit: 9 })) found.push(id);
  return found;
}

suite('an iteration tells', () => {
  test('that it was left, which is no error', async () => {
    const [events, counters] = await told([answering(`${HEAD}\t`)], {}, async (rows) => {
      for await (const { id } of rows.iterate(0, { limit: 9 })) {
        assert.equal(id, 1);
        break;
      }
    });
    assert.deepEqual(
      events.map(({ operation, route, rows, error }) => [operation, route, rows, error]),
      [['find', 'stream', 2, null]],
    );
    assert.deepEqual([counters.errors, counters.givenUp, counters.connectionsLost], [0, 0, 0]);
  });

  test('what had come before it failed', async () => {
    const [events] = await told(
      [
        (line, socket) => {
          if (!line.startsWith('P')) socket.end(`${HEAD}\t3\tthr`);
          return undefined;
        },
      ],
      {},
      async (rows) => assert.equal(await kindOf(drain(rows)), 'lost'),
    );
    assert.deepEqual(
      events.map(({ rows, bytesIn, error }) => [rows, bytesIn, error?.kind]),
      [[2, `${HEAD}\t3\tthr`.length, 'lost']],
    );
  });

  test('the route, if it never had a connection', async () => {
    const [events, counters] = await told([answering(`${HEAD}\t`)], { maxStreams: 1 }, async (rows) => {
      const one = rows.iterate(0, { limit: 9 });
      await one.next();
      assert.equal(await kindOf(rows.iterate(0, { limit: 9, timeout: 60 }).next()), 'timeout');
      await one.return!();
    });
    assert.deepEqual([events[0]!.route, events[0]!.address, events[0]!.error?.kind], ['stream', null, 'timeout']);
    assert.equal(counters.givenUp, 1);
  });
});

suite('an iteration', () => {
  const elsewhere = answering('1\t1\t1047\n');

  test('goes to another server, which stays current', async () => {
    const [events, counters] = await told([elsewhere, answering(`${HEAD}\n`)], {}, async (rows) => {
      assert.deepEqual(await drain(rows), [1, 2]);
      assert.deepEqual(await drain(rows), [1, 2]);
    });
    assert.deepEqual(
      events.map(({ rows, error }) => [rows, error]),
      [
        [2, null],
        [2, null],
      ],
    );
    assert.deepEqual([counters.connectionsMade, counters.errors], [2, 0]);
    assert.equal(counters.bytesIn, 2 * OPENED.length + '1\t1\t1047\n'.length + 2 * `${HEAD}\n`.length);
  });

  test('fails if all servers send it elsewhere', async () => {
    const [events] = await told([elsewhere, elsewhere], {}, async (rows) => assert.equal(await kindOf(drain(rows)), 'reply'));
    assert.equal(events.length, 1);
  });
});
