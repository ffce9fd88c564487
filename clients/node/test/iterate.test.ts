// Reading large results row by row: back-pressure, time-outs, connections, and leaving early.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Client, HandlerSocketError } from '../src/index.js';
import type { ConnectionEvent, Index, Options } from '../src/index.js';
import { AnsweringServer } from './answering-server.js';
import type { Answer } from './answering-server.js';
import { pause, until } from './played-server.js';

interface Row {
  id: number;
  text: string;
}

type Rows = Index<Row, Row, string, string>;

async function using(
  answer: Answer,
  options: Options,
  use: (rows: Rows, server: AnsweringServer, client: Client) => Promise<void>,
): Promise<void> {
  const server = new AnsweringServer(answer);
  const client = new Client({ port: await server.listen(), timeout: 5000, ...options });
  try {
    await use(client.index<Row>({ database: 'db', table: 't', columns: { id: 'number', text: 'string' } }), server, client);
  } finally {
    await client.close();
    server.close();
  }
}

/** `limit` rows; for the limit 7 the reply does not end. */
const many: Answer = (line) => {
  if (line.startsWith('P')) return undefined;
  const count = Number(line.split('\t')[4] ?? 1);
  const rows = Array.from({ length: count }, (_, i) => `\t${i}\ttext ${i}`).join('');
  return `0\t2${rows}${count === 7 ? '' : '\n'}`;
};

const row = (id: number): Row => ({ id, text: `text ${id}` });
const ids = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const all = async (rows: Rows, limit: number, timeout?: number): Promise<Row[]> => {
  const found: Row[] = [];
  for await (const one of rows.iterate(0, { op: '>=', limit, timeout })) found.push(one);
  return found;
};
const kindOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'fulfilled',
    (error: HandlerSocketError) => error.kind,
  );

suite('an iteration', () => {
  test('gives every row, and its connection is kept for the next', async () => {
    await using(many, {}, async (rows, server) => {
      for (const count of [0, 1, 2, 50_000]) assert.deepEqual(await all(rows, Math.max(count, 1)), ids(Math.max(count, 1)).map(row));
      assert.equal(server.connections, 1);
    });
  });

  test('sends nothing before the first row is wanted', async () => {
    await using(many, {}, async (rows, server) => {
      const unused = rows.iterate(0);
      await pause(30);
      assert.equal(server.connections, 0);
      assert.deepEqual(await unused.return!(), { done: true, value: undefined });
      assert.deepEqual(await unused.next(), { done: true, value: undefined });
      assert.equal(server.connections, 0);
    });
  });

  test('a consumer that waits makes the server wait', async () => {
    let written = 0;
    const endless: Answer = (line, socket) => {
      if (line.startsWith('P')) return undefined;
      socket.write('0\t2');
      const chunk = Buffer.from(`\t1\t${'x'.repeat(1000)}`.repeat(64));
      const pump = (): void => {
        if (socket.destroyed) return;
        written += chunk.length;
        if (socket.write(chunk)) setImmediate(pump);
        else socket.once('drain', pump);
      };
      pump();
      return undefined;
    };
    await using(endless, { deadAfter: 800, timeout: 800 }, async (rows, server, client) => {
      const iterator = rows.iterate(0, { op: '>=', limit: 1_000_000 });
      await iterator.next();
      // The server waits when it has written nothing for a while.
      let before = 0;
      for (const end = performance.now() + 5000; before !== written && performance.now() < end;) {
        before = written;
        await pause(200);
      }
      // Longer than dead_after and the time-out, which do not count while nobody wants a row.
      await pause(1200);
      assert.equal(written, before);
      assert.ok(client.counters.bytesIn < 1 << 20, `${client.counters.bytesIn} bytes`);
      for (let i = 0; i < 50_000; i++) assert.equal((await iterator.next()).done, false);
      assert.ok(written > before);
      await iterator.return!();
      await until(() => server.sockets.size === 0);
      assert.equal(server.sockets.size, 0);
    });
  });

  test('the time-out is for the wait for the next bytes', async () => {
    const trickle: Answer = (line, socket) => {
      if (line.startsWith('P')) return undefined;
      let i = 0;
      const timer = setInterval(() => {
        socket.write(i === 0 ? '0\t2' : `\t${i}\tx`);
        if (++i === 20) clearInterval(timer);
      }, 100);
      return undefined;
    };
    await using(trickle, {}, async (rows, server) => {
      const found: number[] = [];
      const call = (async () => {
        for await (const { id } of rows.iterate(0, { limit: 100, timeout: 1500 })) found.push(id);
      })();
      assert.equal(await kindOf(call), 'timeout');
      // They took longer than the time-out. The last one has no end.
      assert.deepEqual(found, ids(19).slice(1));
      await until(() => server.sockets.size === 0);
      assert.equal(server.sockets.size, 0);
    });
  });

  test('can be given up by a signal', async () => {
    await using(many, {}, async (rows, server) => {
      const abort = new AbortController();
      const iterator = rows.iterate(0, { limit: 7, signal: abort.signal });
      assert.deepEqual((await iterator.next()).value, row(0));
      abort.abort();
      // The rows that had come, and then the error, once.
      for (let i = 1; i < 6; i++) assert.deepEqual((await iterator.next()).value, row(i));
      assert.equal(await kindOf(iterator.next()), 'cancelled');
      assert.deepEqual(await iterator.next(), { done: true, value: undefined });
      await until(() => server.sockets.size === 0);
      assert.equal(server.sockets.size, 0);
    });
  });

  test('several rows can be wanted at once', async () => {
    await using(many, {}, async (rows) => {
      const iterator = rows.iterate(0, { limit: 3 });
      const results = await Promise.all(Array.from({ length: 5 }, () => iterator.next()));
      assert.deepEqual(
        results.map(({ value }) => value as unknown),
        [row(0), row(1), row(2), undefined, undefined],
      );
    });
  });

  test('an error of the server, of a value, of the protocol', async () => {
    const replies: Record<string, string> = {
      1: '2\t1\tkpnum\n',
      2: '0\t2\t1\tx\tz\tx\n',
      3: '0\t2\t1\tx\t2\n',
      4: '0\t3\t1\t2\t3\n',
      5: 'x'.repeat(100),
      6: '0\t2\t1\t\x01z\n',
    };
    await using(
      (line) => (line.startsWith('P') ? undefined : replies[line.split('\t')[3]!]),
      {},
      async (rows, server) => {
        const results: string[] = [];
        for (const key of [1, 2, 3, 4, 5, 6]) {
          let count = 0;
          const call = (async () => {
            for await (const _ of rows.iterate(key)) count += 1;
          })();
          results.push(`${await kindOf(call)} ${count}`);
        }
        assert.deepEqual(results, ['reply 0', 'decode 1', 'protocol 1', 'protocol 0', 'protocol 0', 'protocol 0']);
        // An error of the server leaves the connection; the others end it.
        assert.equal(server.connections, 5);
      },
    );
  });

  test('a row has a bound, and the reply has none', async () => {
    await using(many, { maxReplyBytes: 2000 }, async (rows) => {
      assert.equal((await all(rows, 10_000)).length, 10_000);
      assert.equal(await kindOf(rows.find(0, { limit: 999 })), 'protocol');
    });
    await using(
      (line) => (line.startsWith('P') ? undefined : `0\t2\t1\t${'x'.repeat(3000)}`),
      { maxReplyBytes: 2000 },
      async (rows) => {
        assert.equal(await kindOf(all(rows, 1)), 'protocol');
      },
    );
  });

  test('more than max_streams wait, or fail at once', async () => {
    await using(many, { maxStreams: 2 }, async (rows, server) => {
      const open = [rows.iterate(0, { limit: 7 }), rows.iterate(0, { limit: 7 })];
      for (const iterator of open) assert.deepEqual((await iterator.next()).value, row(0));
      assert.equal(await kindOf(all(rows, 5, 150)), 'timeout');
      const waiting = all(rows, 5);
      await pause(30);
      assert.equal(server.connections, 2);
      await open[0]!.return!();
      assert.equal((await waiting).length, 5);
      assert.equal(server.connections, 3);
    });
    await using(many, { maxStreams: 1, whenFull: 'fail' }, async (rows) => {
      const open = rows.iterate(0, { limit: 7 });
      await open.next();
      assert.equal(await kindOf(all(rows, 5)), 'busy');
    });
  });

  test('usage', async () => {
    await using(many, {}, async (rows, server) => {
      assert.throws(() => rows.iterate(0, { limit: -1 }), /a limit/);
      assert.deepEqual(await rows.iterate(0, { in: { values: [] } }).next(), { done: true, value: undefined });
      assert.equal(server.connections, 0);
    });
  });
});

suite("the end of an iteration's connection", () => {
  /** The rows that an answer gives, and what is told of its connection until it has ended. */
  async function told(answer: Answer, take: (iterator: AsyncIterableIterator<Row>, client: Client) => Promise<unknown>): Promise<string> {
    const events: ConnectionEvent[] = [];
    const log: string[] = [];
    const options: Options = {
      hooks: { connection: (event) => events.push(event) },
      logger: { info: (line) => log.push(line), warn: (line) => log.push(`warning: ${line}`) },
    };
    let lost = 0;
    await using(answer, options, async (rows, _, client) => {
      await take(rows.iterate(0, { limit: 9 }), client);
      for (let i = 0; i < 500 && events.length < 2; i++) await pause(10);
      lost = client.counters.connectionsLost;
      assert.equal(client.counters.connectionsMade, 1);
    });
    assert.deepEqual([events.length, log.length, events[0]!.event], [2, 2, 'connected']);
    const { event, route, address, reason } = events[1]!;
    const warning = event === 'closed' ? '' : 'warning: ';
    assert.equal(log[1], `${warning}handlersocket2: ${event} (${route}, ${address}): ${reason}`);
    return `${event} ${route} ${lost}: ${reason}`;
  }
  const answering =
    (reply: string, hangsUp: boolean): Answer =>
    (line, socket) => {
      if (line.startsWith('P')) return undefined;
      if (hangsUp) socket.end(reply);
      else socket.write(reply);
      return undefined;
    };
  const drain = async (iterator: AsyncIterableIterator<Row>): Promise<void> => {
    for await (const { id } of iterator) assert.equal(id, 1);
  };
  const two = '0\t2\t1\tone\t1\ttwo';

  test('is told as lost, and counted', async () => {
    const lost = await told(answering(`${two}\t1\tthr`, true), async (iterator) => assert.equal(await kindOf(drain(iterator)), 'lost'));
    assert.equal(lost, 'lost stream 1: the server closed the connection');
  });

  test('is told as a protocol error, and counted', async () => {
    const wrong = await told(answering(`${two}\t1\n`, false), async (iterator) => assert.equal(await kindOf(drain(iterator)), 'protocol'));
    assert.match(wrong, /^protocol_error stream 1: /);
    assert.match(await told(answering(`${two}\n0\t1\n`, false), drain), /^protocol_error stream 1: /);
  });

  test('is told as closed, and not counted, if it was idle', async () => {
    assert.equal(await told(answering(`${two}\n`, true), drain), 'closed stream 0: the server closed the connection');
  });

  test('is told as closed, and not counted, if the client closes it', async () => {
    const endless = answering(`${two}\t`, false);
    const left = await told(endless, async (iterator) => {
      await iterator.next();
      await iterator.return!();
    });
    assert.equal(left, 'closed stream 0: the iteration ended before its reply');
    const closed = await told(endless, async (iterator, client) => {
      await iterator.next();
      await client.close();
    });
    assert.equal(closed, 'closed stream 0: the client is closed');
    const idle = await told(answering(`${two}\n`, false), async (iterator, client) => {
      await drain(iterator);
      await client.close();
    });
    assert.equal(idle, 'closed stream 0: the client is closed');
  });

  test('says that another one is kept', async () => {
    const reasons: (string | null)[] = [];
    await using(many, { hooks: { connection: ({ reason }) => reasons.push(reason) } }, async (rows) => {
      const open = [rows.iterate(0, { limit: 2 }), rows.iterate(0, { limit: 2 })];
      for (const iterator of open) await iterator.next();
      for (const iterator of open) for await (const { id } of iterator) assert.equal(id, 1);
      await pause(1);
      assert.deepEqual(reasons, [null, null, 'another connection is kept']);
    });
  });
});
