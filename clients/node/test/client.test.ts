// Life of a client: its connections, what is known of its writes, bounds, deadlines, pipelines.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite, test } from 'node:test';
import { isLoopback } from '../src/dial.js';
import { Client, HandlerSocketError } from '../src/index.js';
import { AnsweringServer, echo, serving } from './answering-server.js';
import type { Answer } from './answering-server.js';
import { kindOf, row, rowsOf, silent, using } from './client-kit.js';
import { pause } from './played-server.js';

suite('one client for many callers', () => {
  test('each gets its own row, in few writes', async () => {
    await using(echo, {}, async (client, server, rows) => {
      await rows.find(0);
      const before = client.counters.socketWrites;
      const ids = Array.from({ length: 1000 }, (_, i) => i);
      assert.deepEqual(await Promise.all(ids.map((id) => rows.findOne(id))), ids.map(row));
      const writes = client.counters.socketWrites - before;
      // The first ones are smaller, each a quarter of what is in flight.
      assert.ok(writes <= 1000 / 64 + 11, `${writes} writes`);
      assert.equal(server.connections, 1);
    });
  });

  test('the server begins before all callers that were answered together have asked again', async () => {
    const callers = 16;
    let waiting: string[] = [];
    // All are answered at once, when as many have asked.
    const together: Answer = (line, from) => {
      if (line.startsWith('P')) return undefined;
      waiting.push(echo(line)!);
      if (waiting.length === callers) {
        from.write(waiting.join(''));
        waiting = [];
      }
      return undefined;
    };
    await using(together, {}, async (client, _, rows) => {
      const round = async (id: number): Promise<void> => {
        for (let i = 0; i < 10; i += 1) assert.deepEqual(await rows.findOne(id), row(id));
      };
      await Promise.all(Array.from({ length: callers }, (_, id) => round(id)));
      // 4, 4, and 8 are a quarter of what is in flight.
      assert.ok(client.counters.socketWrites >= 10 * 3, `${client.counters.socketWrites} writes`);
      assert.ok(client.counters.socketWrites <= 10 * 4 + 2, `${client.counters.socketWrites} writes`);
    });
  });

  test('as many connections as the options say, the one with the fewest requests first', async () => {
    const asked: [string, Socket][] = [];
    // Nobody is answered before all have asked.
    const together: Answer = (line, socket) => {
      if (line.startsWith('P')) return undefined;
      asked.push([line, socket]);
      if (asked.length === 6) for (const [one, from] of asked) from.write(echo(one)!);
      return undefined;
    };
    await using(together, { readConnections: 3 }, async (_, server, rows) => {
      assert.deepEqual(await Promise.all([0, 1, 2, 3, 4, 5].map((id) => rows.findOne(id))), [0, 1, 2, 3, 4, 5].map(row));
      assert.equal(server.connections, 3);
      for (const used of server.sockets) assert.equal(asked.filter(([, socket]) => socket === used).length, 2);
    });
  });

  test('a long find has a connection of its own', async () => {
    await using(
      (line) => (line.endsWith('\t1000') || line.endsWith('\t5') ? undefined : echo(line)),
      {},
      async (_, server, rows) => {
        const long = [
          rows.find(1, { op: '>=', limit: 1000, timeout: 300 }),
          rows.find(1, { op: '>=', limit: 5, long: true, timeout: 300 }),
        ].map(kindOf);
        assert.deepEqual(await rows.findOne(7), row(7));
        assert.deepEqual(await Promise.all(long), ['timeout', 'timeout']);
        assert.equal(server.connections, 2);
      },
    );
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
      await assert.rejects(
        rows.find(1),
        (error) => error instanceof HandlerSocketError && error.kind === 'connect' && !/vault/.test(error.message),
      );
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

suite('what is known of a write', () => {
  const fate = (error: HandlerSocketError): unknown[] => [error.kind, error.sent, error.maybeExecuted];

  test('whose reply has a value that does not fit: it was executed', async () => {
    await using(
      (line) => (line.startsWith('P') ? undefined : '0\t2\tx\ty\n'),
      {},
      async (_, __, rows) => {
        assert.deepEqual(await rows.fetchAndDelete(1).catch(fate), ['decode', true, true]);
      },
    );
  });

  test('whose index cannot be opened: it was not, even if its own reply never comes', async () => {
    await using(
      (line) => (line.startsWith('P') ? '1\t1\topen_table\n' : ''),
      {},
      async (_, __, rows) => {
        assert.deepEqual(await rows.delete(1, { timeout: 1000 }).catch(fate), ['timeout', true, false]);
      },
    );
  });

  test('which a read-only server has sent elsewhere: it was not', async () => {
    const readOnly: Answer = (line) => (line.startsWith('A') ? '0\t1\n' : line.startsWith('P') ? undefined : '1\t1\t1290\n');
    await serving(readOnly, async (_, one) => {
      // The second one does not answer the log-in.
      await serving(silent, async (__, two) => {
        const client = new Client({ addresses: [one, two].map((port) => ({ port, portWr: port })), secret: 's' });
        assert.deepEqual(await rowsOf(client).delete(1, { timeout: 1000 }).catch(fate), ['timeout', true, false]);
        await client.close();
      });
    });
  });
});

suite('bounds', () => {
  test('a server that closes each connection is not connected to without a pause', async () => {
    await using(
      (_, socket) => void socket.destroy(),
      { retryReads: 100_000, backoffMin: 50, backoffMax: 50 },
      async (_, server, rows) => {
        // Within 600 ms there are some 25, and on a machine that stands still none.
        let calls = 0;
        do {
          assert.equal(await kindOf(rows.find(1, { timeout: 600 })), 'timeout');
        } while (++calls < 10 && server.connections <= 2);
        assert.ok(server.connections > 2 && server.connections < 100 * calls, `${server.connections} connections`);
      },
    );
  });

  test('callers wait in their order', async () => {
    await using(echo, { maxInFlight: 7 }, async (client, _, rows) => {
      const order: number[] = [];
      await Promise.all(Array.from({ length: 100 }, (_, i) => rows.findOne(i).then((found) => order.push(found!.id))));
      assert.deepEqual(
        order,
        Array.from({ length: 100 }, (_, i) => i),
      );
      assert.ok(client.counters.socketWrites > 100 / 7);
    });
  });

  test('bytes are bounded, too, and one that is larger goes alone', async () => {
    await using(echo, { maxInFlightBytes: 100 }, async (_, server, rows) => {
      const large = 'x'.repeat(300);
      const loose = rows as unknown as { find(key: string): Promise<unknown> };
      const results = await Promise.allSettled([loose.find('1'), loose.find(large), loose.find('2')]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      );
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
    await serving(
      (_, socket) => void socket.pause(),
      async (server, port) => {
        const client = new Client({ port, portWr: port, maxInFlightBytes: 1 << 30 });
        const rows = client.index({ database: 'db', table: 't', columns: { a: 'bytes' } });
        const first = rows.insert([large], { timeout: 1500 });
        await pause(700);
        const second = rows.insert(['y'], { timeout: 400 });
        const ends = await Promise.all(
          [first, second].map((call) => call.catch((error: HandlerSocketError) => [error.kind, error.sent, error.maybeExecuted])),
        );
        assert.deepEqual(ends, [
          ['timeout', true, true],
          ['timeout', false, false],
        ]);
        await client.close();
        assert.equal(server.connections, 1);
      },
    );
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

  test('before anything was written, when it alone was in flight: who waits for its turn gets it', async () => {
    await using(echo, { maxInFlight: 1 }, async (_, server, rows) => {
      await rows.find(1);
      const abort = new AbortController();
      const first = kindOf(rows.find(2, { signal: abort.signal }));
      const second = rows.findOne(3, { timeout: 1000 });
      abort.abort();
      assert.equal(await first, 'cancelled');
      assert.deepEqual(await second, row(3));
      assert.deepEqual(server.lines.slice(1), ['1\t=\t1\t1', '1\t=\t1\t3']);
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
    // The reply has left when the program is busy, so that it is there when the time is over.
    const busy: Answer = (line, socket) => {
      if (!line.endsWith('\t2')) return echo(line);
      socket.write(echo(line)!);
      for (const end = performance.now() + 1300; performance.now() < end;);
      return '';
    };
    await using(busy, {}, async (_, __, rows) => {
      await rows.find(1);
      assert.equal(await kindOf(rows.findOne(2, { timeout: 900 })), 'fulfilled');
    });
  });
});

suite('a pipeline', () => {
  test('stays together although the bound cuts it', async () => {
    await using(echo, { maxInFlight: 2 }, async (client, server, rows) => {
      const others = [rows.find(90), rows.find(91), rows.find(92)];
      const results = await client.pipeline((on) => [1, 2, 3, 4, 5].map((id) => on(rows).findOne(id)));
      await Promise.all(others);
      assert.deepEqual(
        results.map((result) => (result.status === 'fulfilled' ? result.value : null)),
        [1, 2, 3, 4, 5].map(row),
      );
      assert.deepEqual(
        server.lines.slice(1).map((line) => Number(line.split('\t')[3])),
        [90, 91, 92, 1, 2, 3, 4, 5],
      );
    });
  });

  test('its requests can be looked at one by one', async () => {
    await using(
      (line) => (line.endsWith('\t2') ? '2\t1\tkpnum\n' : echo(line)),
      {},
      async (client, _, rows) => {
        let one: Promise<unknown> | undefined;
        let two: Promise<unknown> | undefined;
        await client.pipeline((on) => [(one = on(rows).findOne(1)), (two = on(rows).findOne(2)), 'no request']);
        assert.deepEqual(await one, row(1));
        await assert.rejects(two!, /kpnum/);
      },
    );
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
      await assert.rejects(
        client.pipeline((on) => [on({})]),
        /an index of this package/,
      );
      await assert.rejects(
        client.pipeline((on) => [on(rows).iterate(1)]),
        /cannot iterate/,
      );
      assert.deepEqual(server.lines, []);
      assert.deepEqual(await client.pipeline(() => []), []);
    });
  });
});
