// Requests that are handed over together: they are collected while the application names them, and then sent.
import type { Core, Executor, RequestOptions } from './core.js';
import { usage } from './errors.js';
import type { Slot } from './slot.js';

/** What each request of a pipeline gives: a result or an error, as of Promise.allSettled. */
export type Settled<T extends readonly unknown[]> = { -readonly [P in keyof T]: PromiseSettledResult<Awaited<T[P]>> };

export class Batch implements Executor {
  private slots: Slot[] = [];
  private over = false;

  constructor(
    readonly core: Core,
    private readonly options: RequestOptions | undefined,
  ) {}

  run(slot: Slot, options: RequestOptions | undefined): Promise<unknown> {
    if (this.over) return Promise.reject(usage('the pipeline has been sent already'));
    const promise = new Promise((resolve, reject) => {
      slot.resolve = resolve;
      slot.reject = reject;
      const own = {
        timeout: options?.timeout ?? this.options?.timeout,
        signal: options?.signal ?? this.options?.signal,
        within: options?.within ?? this.options?.within,
      };
      if (this.core.begin(slot, own)) this.slots.push(slot);
    });
    // The application may look at the results of the pipeline only.
    promise.catch(() => undefined);
    return promise;
  }

  send(): void {
    this.over = true;
    const slots = this.slots.filter((slot) => !slot.settled);
    this.slots = [];
    if (slots.length > 0) this.core.submitAll(slots);
  }

  /** The application's function has failed: nothing is sent. */
  abandon(): void {
    this.over = true;
    for (const slot of this.slots) slot.fail(usage('the function of the pipeline failed, so it was not sent'));
    this.slots = [];
  }
}
