// Plays the servers of scenarios.json: each port has a list of scripts, and each connection plays the next of them.
import net from 'node:net';

const PATIENCE_MS = 5000;

export interface ScriptStep {
  expect?: string;
  send?: string;
  pieces?: number;
  every_ms?: number;
  cut?: boolean;
  quiet_ms?: number;
  close?: boolean;
  reset?: boolean;
  expect_end?: boolean;
  stop_reading?: boolean;
  signal?: string;
  await?: string;
}

export type Script = ScriptStep[];

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Waits until it is so, and at most 5 s: whoever calls this asserts it. */
export async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!isSo() && performance.now() < end) await pause(5);
}

export async function within<T>(promise: Promise<T>, what: string, milliseconds = PATIENCE_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>(
    (_, reject) => (timer = setTimeout(() => reject(new Error(`${what}: not within ${milliseconds} ms`)), milliseconds)),
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Signals last: who waits later finds them given. */
export class Signals {
  private readonly waits = new Map<string, { promise: Promise<void>; give: () => void }>();

  private of(name: string): { promise: Promise<void>; give: () => void } {
    let wait = this.waits.get(name);
    if (wait === undefined) {
      let give = (): void => undefined;
      wait = { promise: new Promise((resolve) => (give = resolve)), give };
      this.waits.set(name, wait);
    }
    return wait;
  }

  give(name: string): void {
    this.of(name).give();
  }

  wait(name: string): Promise<void> {
    return within(this.of(name).promise, `the signal ${name}`);
  }
}

/** The server's side of one connection. */
class Peer {
  private got = Buffer.alloc(0);
  private ended = false;
  private wake: () => void = () => undefined;
  ignores = false;

  constructor(readonly socket: net.Socket) {
    socket.on('data', (chunk: Buffer) => {
      if (!this.ignores) this.got = Buffer.concat([this.got, chunk]);
      this.wake();
    });
    for (const event of ['end', 'close', 'error']) {
      socket.on(event, () => {
        this.ended = true;
        this.wake();
      });
    }
  }

  private more(): Promise<void> {
    return new Promise((resolve) => (this.wake = resolve));
  }

  async expect(wanted: Buffer): Promise<void> {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      const length = Math.min(this.got.length, wanted.length);
      if (!this.got.subarray(0, length).equals(wanted.subarray(0, length))) {
        throw new Error(
          `expected ${JSON.stringify(wanted.toString('latin1'))}, got ${JSON.stringify(this.got.toString('latin1', 0, 200))}`,
        );
      }
      if (length === wanted.length) break;
      if (this.ended) throw new Error(`expected ${JSON.stringify(wanted.toString('latin1'))}, and the client has gone`);
      await within(this.more(), `expected ${JSON.stringify(wanted.toString('latin1'))}`, end - performance.now());
    }
    this.got = this.got.subarray(wanted.length);
  }

  async expectEnd(): Promise<void> {
    const end = performance.now() + PATIENCE_MS;
    while (!this.ended) await within(this.more(), 'the end of the connection', end - performance.now());
    this.expectNothing();
  }

  expectNothing(): void {
    if (this.got.length > 0) throw new Error(`bytes that nobody expects: ${JSON.stringify(this.got.toString('latin1', 0, 200))}`);
  }

  async send(bytes: Buffer, { pieces, every_ms: every }: ScriptStep): Promise<void> {
    if (pieces === undefined && every === undefined) {
      this.socket.write(bytes);
      return;
    }
    for (const byte of bytes) {
      if (this.socket.destroyed) return;
      this.socket.write(Buffer.from([byte]));
      await pause(every ?? 0);
    }
  }
}

export class PlayedPort {
  private readonly server: net.Server;
  private readonly sockets: net.Socket[] = [];
  private readonly plays: Promise<void>[] = [];
  private readonly problems: Error[] = [];
  private next = 0;
  port = 0;

  constructor(
    private readonly scripts: Script[] | null,
    private readonly cutAt: number,
    private readonly signals: Signals,
  ) {
    this.server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.accept(socket));
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.port = (this.server.address() as net.AddressInfo).port;
    // Nobody listens on a port that was free a moment ago.
    if (this.scripts === null) await new Promise((resolve) => this.server.close(resolve));
  }

  private accept(socket: net.Socket): void {
    this.sockets.push(socket);
    socket.on('error', () => undefined);
    const script = this.scripts![this.next++];
    if (script === undefined) {
      this.problems.push(new Error('more connections than scripts'));
      socket.destroy();
      return;
    }
    const play = this.play(script, socket);
    play.catch(() => undefined);
    this.plays.push(play);
  }

  private async play(script: Script, socket: net.Socket): Promise<void> {
    const peer = new Peer(socket);
    let checked = true;
    for (const step of script) {
      if (step.expect !== undefined) await peer.expect(Buffer.from(step.expect, 'latin1'));
      else if (step.send !== undefined) {
        const bytes = Buffer.from(step.send, 'latin1');
        await peer.send(step.cut === true ? bytes.subarray(0, this.cutAt) : bytes, step);
      } else if (step.quiet_ms !== undefined) {
        await pause(step.quiet_ms);
        peer.expectNothing();
      } else if (step.close !== undefined) {
        socket.end();
        peer.ignores = true;
      } else if (step.reset !== undefined) {
        socket.resetAndDestroy();
        return;
      } else if (step.expect_end !== undefined) await peer.expectEnd();
      else if (step.stop_reading !== undefined) {
        socket.pause();
        checked = false;
      } else if (step.signal !== undefined) this.signals.give(step.signal);
      else if (step.await !== undefined) await this.signals.wait(step.await);
      else throw new Error(`an unknown step: ${JSON.stringify(step)}`);
    }
    if (checked) this.last.push(peer);
  }

  private readonly last: Peer[] = [];

  /** Every script has come to its end, every script was played, and nothing more came. */
  async finish(): Promise<void> {
    if (this.scripts === null) return;
    await within(Promise.all(this.plays), 'the end of the scripts');
    for (const peer of this.last) peer.expectNothing();
    if (this.problems.length > 0) throw this.problems[0]!;
    if (this.next < this.scripts.length) throw new Error(`${this.next} connections for ${this.scripts.length} scripts`);
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}
