// Ports that speak another protocol: the error says so, and names the address.
import assert from 'node:assert/strict';
import net from 'node:net';
import { suite, test } from 'node:test';
import { Client } from '../src/index.js';
import type { HandlerSocketError, Options } from '../src/index.js';
import { rowsOf } from './client-kit.js';

// Length and number of the packet, the version 10, and a server's name.
const SQL = Buffer.from('J\0\0\0\n11.8.2-MariaDB\0', 'latin1');
const ANSWERS: [string, string][] = [
  ['Redis', "-ERR unknown command 'A', with args beginning with: \r\n"],
  ['memcached', 'ERROR\r\n'],
  ['HTTP', 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'],
];
// An alert of TLS: the version is not supported, or a message was not expected, whose number is that of LF.
const ALERTS = [Buffer.from([0x15, 3, 1, 0, 2, 2, 70]), Buffer.from([0x15, 3, 3, 0, 2, 2, 10])];

/** The error of a find at a server that greets so, and answers the first bytes so and closes. */
async function errorOf(
  options: Options,
  greeting: Buffer | undefined,
  answer: string | Buffer,
): Promise<HandlerSocketError & { connections: number; address: string }> {
  let connections = 0;
  const server = net.createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined);
    if (greeting !== undefined) socket.write(greeting);
    socket.once('data', () => socket.end(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  const client = new Client({ port, portWr: port, timeout: 10_000, backoffMin: 1, backoffMax: 1, ...options });
  try {
    const error = await rowsOf(client)
      .findOne(1)
      .then(
        () => assert.fail('it succeeded'),
        (reason: HandlerSocketError) => reason,
      );
    return Object.assign(error, { connections, address: `127.0.0.1:${port}` });
  } finally {
    await client.close();
    server.close();
  }
}

suite('a port of another protocol', () => {
  for (const login of [{ user: 'ann', password: 'x' }, { secret: 's' }] as Options[]) {
    for (const [name, answer] of ANSWERS) {
      test(`${name} is asked to let ${Object.keys(login)[0]} in`, async () => {
        const { kind, sent, maybeExecuted, connections, message, address } = await errorOf(login, undefined, answer);
        assert.deepEqual({ kind, sent, maybeExecuted, connections }, { kind: 'protocol', sent: false, maybeExecuted: false, connections: 1 });
        assert.ok(message.includes(address), message);
      });
    }

    test(`SQL is asked to let ${Object.keys(login)[0]} in`, async () => {
      const { kind, sent, connections, message } = await errorOf(login, SQL, '');
      assert.deepEqual({ kind, sent, connections }, { kind: 'protocol', sent: false, connections: 1 });
      assert.match(message, /looks like the port of SQL/);
    });
  }

  for (const [i, alert] of ALERTS.entries()) {
    test(`TLS is spoken to without, alert ${i}`, async () => {
      for (const [options, sent] of [
        [{}, true],
        [{ secret: 's' }, false],
      ] as const) {
        const error = await errorOf(options, undefined, alert);
        assert.deepEqual([error.kind, error.sent], ['protocol', sent]);
        assert.ok(error.message.includes(`${error.address} wants TLS`), error.message);
      }
    });
  }

  test('TLS is spoken to one that has none', async () => {
    for (const tls of ['verify', 'unverified'] as const) {
      const { kind, sent, connections, message, address } = await errorOf({ tls }, undefined, '2\t1\tcmd\n');
      assert.deepEqual({ kind, sent, connections }, { kind: 'connect', sent: false, connections: 1 });
      assert.ok(message.endsWith(`TLS with ${address} failed: that port does not speak TLS`), message);
    }
  });
});
