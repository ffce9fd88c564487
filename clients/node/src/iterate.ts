// Reading a large result row by row. The rows of what has arrived are held, and nothing is read from the socket until they
// are taken, so that a slow consumer costs neither side more than a buffer.
import type { Core, RequestOptions } from './core.js';
import { HandlerSocketError } from './errors.js';
import { RowCutter } from './row-cutter.js';
import type { ErrorReply, Shape } from './replies.js';
import type { Sink, Slot } from './slot.js';

interface Taker<Row> {
  resolve(result: IteratorResult<Row, undefined>): void;
  reject(error: unknown): void;
}

/** The rows of a find, for `for await`. Nothing is sent before the first row is asked for. */
export class RowIterator<Row> implements AsyncIterableIterator<Row>, Sink {
  private cutter: RowCutter;
  private rows: Row[] = [];
  private taken = 0;
  private readonly takers: Taker<Row>[] = [];
  private state: 'new' | 'open' | 'ended' = 'new';
  private failure: HandlerSocketError | undefined;
  private readonly timeout: number;
  /** @internal */
  received = 0;
  /** @internal */
  given = 0;

  /** @internal */
  constructor(
    private readonly core: Core,
    private readonly slot: Slot,
    private readonly options: RequestOptions | undefined,
    private readonly shape: Shape,
  ) {
    this.cutter = this.newCutter();
    this.timeout = options?.timeout ?? core.settings.timeout;
    slot.sink = this;
  }

  /** @internal */
  get done(): boolean {
    return this.cutter.done;
  }

  /** @internal */
  get error(): ErrorReply | undefined {
    return this.cutter.error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Row, undefined>> {
    if (this.taken < this.rows.length) return Promise.resolve({ done: false, value: this.rows[this.taken++]! });
    return new Promise((resolve, reject) => {
      this.takers.push({ resolve, reject });
      this.want();
    });
  }

  /** Ends the iteration. If rows are still to come, its connection is closed. */
  return(): Promise<IteratorResult<Row, undefined>> {
    this.rows = [];
    this.taken = 0;
    this.failure = undefined;
    const wasOpen = this.state === 'open';
    this.state = 'ended';
    if (wasOpen && !this.slot.settled) {
      // To leave is no error.
      this.slot.succeed(undefined, this.given, this.received);
      this.slot.via?.end({ kind: 'closed', reason: 'the iteration ended before its reply' });
    }
    this.serve();
    return Promise.resolve({ done: true, value: undefined });
  }

  private want(): void {
    if (this.state === 'new') {
      this.begin();
    } else if (this.state === 'open') {
      // The time-out is for the wait for the next bytes, and only while somebody waits.
      this.slot.deadline = this.timeout === 0 ? 0 : Math.ceil(performance.now() + this.timeout);
      this.slot.via?.resume();
    } else {
      this.serve();
    }
  }

  private begin(): void {
    this.state = 'open';
    const { slot } = this;
    const end = (failure: HandlerSocketError | undefined): void => {
      // Who has left wants to know nothing.
      if (this.state === 'open') this.failure = failure;
      this.state = 'ended';
      // The connection first reads on, and then is free for others.
      queueMicrotask(() => this.core.streams.finished(slot));
      this.serve();
    };
    slot.resolve = () => end(undefined);
    slot.reject = end;
    if (this.core.begin(slot, this.options)) this.core.submit(slot);
  }

  private newCutter(): RowCutter {
    return new RowCutter(this.shape, this.core.settings.maxReplyBytes);
  }

  /** @internal */
  restart(): void {
    this.cutter = this.newCutter();
  }

  /** @internal The connection hands over what has arrived. */
  take(chunk: Buffer): number {
    const { slot, rows } = this;
    if (this.taken === rows.length) {
      rows.length = 0;
      this.taken = 0;
    }
    const count = this.cutter.take(chunk, this.onRow);
    this.received += count;
    this.serve();
    if (this.takers.length > 0) {
      if (this.timeout !== 0) slot.deadline = Math.ceil(performance.now() + this.timeout);
    } else {
      slot.deadline = 0;
      if (!this.cutter.done) slot.via?.pause();
    }
    return count;
  }

  private readonly onRow = (row: unknown): void => {
    this.given += 1;
    this.rows.push(row as Row);
  };

  private serve(): void {
    while (this.takers.length > 0) {
      if (this.taken < this.rows.length) {
        this.takers.shift()!.resolve({ done: false, value: this.rows[this.taken++]! });
      } else if (this.state !== 'ended') {
        return;
      } else if (this.failure !== undefined) {
        const { failure } = this;
        // An error is given once; behind it there is nothing.
        this.failure = undefined;
        this.takers.shift()!.reject(failure);
      } else {
        this.takers.shift()!.resolve({ done: true, value: undefined });
      }
    }
  }
}
