// A client keeps its process alive while a caller waits, and no longer.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { suite, test } from 'node:test';
import { echo, serving } from './answering-server.js';
import type { Answer } from './answering-server.js';
import { silent } from './client-kit.js';

const CLIENT = path.join(__dirname, '..', 'src', 'index.js');
/** Each of the times that could keep the process alive is longer. */
const PATIENCE_MS = 25_000;

/** What a program prints, which ends by itself. `rows` is an index of the server. */
function printed(port: number, options: string, program: string): Promise<string> {
  const text = `
    const { Client } = require(${JSON.stringify(CLIENT)});
    const client = new Client({ port: ${port}, deadAfter: 60_000, connectTimeout: 60_000, ${options} });
    const rows = client.index({ database: 'db', table: 't', columns: ['a', 'b'] });
    const kindOf = (promise) => promise.then(() => 'fulfilled', (error) => error.kind);
    const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    (async () => { ${program} })();`;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['-e', text], { stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    const late = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
    child.on('error', reject);
    child.on('close', (_, signal) => {
      clearTimeout(late);
      if (signal === null) resolve(out.trim());
      else reject(new Error(`the process was kept alive; it had printed ${out}`));
    });
  });
}

/** Answers everything but P, or everything, a moment after the second of such lines has come. */
function afterTwo(isMeant: (line: string) => boolean): Answer {
  let count = 0;
  const owed: (() => void)[] = [];
  return (line, socket) => {
    if (!isMeant(line)) return echo(line);
    owed.push(() => void (socket.destroyed || socket.write(echo(line)!)));
    if (++count === 2) setTimeout(() => owed.forEach((pay) => pay()), 300);
    return undefined;
  };
}

suite('a process is not kept alive', () => {
  test('by a call whose time is over', () =>
    serving(silent, async (_, port) => {
      assert.equal(await printed(port, '', "console.log(await kindOf(rows.find(1, { timeout: 100 })));"), 'timeout');
    }));

  test('by a call that was cancelled', () =>
    serving(silent, async (_, port) => {
      const program = 'const a = new AbortController(); setTimeout(() => a.abort(), 100); console.log(await kindOf(rows.find(1, { signal: a.signal })));';
      assert.equal(await printed(port, '', program), 'cancelled');
    }));

  test('by an attempt to connect for which nobody waits any more', () =>
    serving(silent, async (_, port) => {
      assert.equal(await printed(port, "secret: 's'", "console.log(await kindOf(rows.find(1, { timeout: 100 })));"), 'timeout');
    }));

  test('by the wait for the next attempt', async () => {
    const program = "console.log(await kindOf(rows.find(1, { timeout: 500 })));";
    assert.equal(await printed(1, 'backoffMin: 2_000_000_000, backoffMax: 2_000_000_000', program), 'timeout');
  });
});

suite('a process is kept alive', () => {
  const twice = "console.log(await kindOf(rows.find(1, { timeout: 100 }))); await pause(200); console.log(await kindOf(rows.find(2)));";

  test('by a caller on a connection whose earlier one has left', () =>
    serving(
      afterTwo((line) => !line.startsWith('P')),
      async (_, port) => {
        assert.equal(await printed(port, '', twice), 'timeout\nfulfilled');
      },
    ));

  test('by a caller that joins an attempt to connect', async () => {
    let asked = (): void => undefined;
    const answer: Answer = (line, socket) => {
      if (!line.startsWith('A')) return echo(line);
      // The other caller has come when the process asks this server on its other port.
      asked = () => void setTimeout(() => socket.write('0\t1\n'), 300);
      return undefined;
    };
    await serving(answer, (_, port) =>
      serving(
        () => (asked(), undefined),
        async (__, other) => {
          const program = `
            console.log(await kindOf(rows.find(1, { timeout: 100 })));
            await pause(200);
            const second = kindOf(rows.find(2));
            require('node:net').connect(${other}, '127.0.0.1').end('now\\n').resume();
            console.log(await second);`;
          assert.equal(await printed(port, "secret: 's'", program), 'timeout\nfulfilled');
        },
      ),
    );
  });
});
