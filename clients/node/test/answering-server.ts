// A server for tests that are not about bytes: a function answers each line.
import net from 'node:net';

/** What is sent for a line; undefined is nothing. `P` is answered by itself unless the function does it. */
export type Answer = (line: string, socket: net.Socket) => string | Buffer | undefined;

export class AnsweringServer {
  readonly lines: string[] = [];
  readonly sockets = new Set<net.Socket>();
  connections = 0;
  private readonly server: net.Server;

  constructor(private readonly answer: Answer) {
    this.server = net.createServer({ noDelay: true }, (socket) => this.accept(socket));
  }

  private accept(socket: net.Socket): void {
    this.connections += 1;
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.sockets.delete(socket));
    let rest = '';
    socket.on('data', (chunk) => {
      const lines = (rest + chunk.toString('latin1')).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        this.lines.push(line);
        const reply = this.answer(line, socket) ?? (line.startsWith('P\t') ? '0\t1\n' : undefined);
        if (reply !== undefined && !socket.destroyed) socket.write(typeof reply === 'string' ? Buffer.from(reply, 'latin1') : reply);
      }
    });
  }

  async listen(path?: string): Promise<number> {
    await new Promise<void>((resolve) =>
      path === undefined ? this.server.listen(0, '127.0.0.1', resolve) : this.server.listen(path, resolve),
    );
    const address = this.server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}

/** A find by one key is answered with a row that has the key and its text; an echo with its value; modifications and inserts as if they succeeded. */
export function echo(line: string): string | undefined {
  const [id, op, , key, , , clause] = line.split('\t');
  if (id === 'P' || id === 'A') return '0\t1\n';
  if (id === 'echo') return `0\t1\t${op}\n`;
  if (op === '+') return '0\t1\t43\n';
  if (clause !== undefined && /^[UD+-]$/.test(clause)) return '0\t1\t1\n';
  return `0\t2\t${key}\ttext ${key}\n`;
}

/** Runs with a server and closes it. */
export async function serving<T>(answer: Answer, use: (server: AnsweringServer, port: number) => Promise<T>): Promise<T> {
  const server = new AnsweringServer(answer);
  const port = await server.listen();
  try {
    return await use(server, port);
  } finally {
    server.close();
  }
}
