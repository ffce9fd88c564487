// A socket as a connection uses it: bytes in, bytes out, stop and go on reading. The bytes that it hands out are valid only
// during the call, because the socket reads into the same buffer again.
import * as net from 'node:net';
import * as tls from 'node:tls';

const READ_AT_ONCE = 1 << 16;

export type Endpoint = { readonly path: string } | { readonly host: string; readonly port: number };

export class Wire {
  readonly socket: net.Socket;
  onBytes: (chunk: Buffer) => void = ignore;
  /** Called once, when nothing more can come. */
  onEnd: (cause: Error | undefined) => void = ignore;
  private ended = false;
  private reading = true;

  constructor(endpoint: Endpoint, secure: tls.ConnectionOptions | undefined) {
    const onread = {
      buffer: Buffer.allocUnsafeSlow(READ_AT_ONCE),
      callback: (count: number, buffer: Uint8Array): boolean => {
        this.onBytes((buffer as Buffer).subarray(0, count));
        return this.reading;
      },
    };
    const common = { onread, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 };
    this.socket =
      secure === undefined
        ? net.connect({ ...common, ...endpoint })
        : tls.connect({ ...common, ...endpoint, ...secure } as tls.ConnectionOptions);
    let failure: Error | undefined;
    this.socket.on('error', (error) => (failure ??= error));
    this.socket.on('end', () => this.end(undefined));
    this.socket.on('close', () => this.end(failure));
  }

  private end(cause: Error | undefined): void {
    if (this.ended) return;
    this.ended = true;
    this.socket.destroy();
    this.onEnd(cause);
  }

  pause(): void {
    this.reading = false;
    this.socket.pause();
    // Nobody waits for its bytes.
    this.socket.unref();
  }

  resume(): void {
    this.reading = true;
    this.socket.ref();
    this.socket.resume();
  }

  /** Ends it without a call of `onEnd`. */
  destroy(): void {
    this.ended = true;
    this.socket.destroy();
  }
}

function ignore(): void {
  // Until a connection uses it.
}
