// Looks at deadlines, for everything that has some: one timer for a client, and none for a request. It runs while there is
// something to look at, and never keeps the process alive.

/** A connection or a channel. */
export interface Swept {
  /** Ends what is over, and says whether there is anything left to look at. */
  sweep(now: number): boolean;
}

// Deadlines are noticed at most 50 ms late: what is missing is for the event loop.
const EVERY_MS = 40;
// A sweep that comes so late was held up by the program's own work.
const LATE_MS = 200;

export class Sweeper {
  private readonly swept = new Set<Swept>();
  private timer: NodeJS.Timeout | undefined;
  private last = 0;

  add(one: Swept): void {
    this.swept.add(one);
    if (this.timer === undefined) {
      this.last = performance.now();
      this.timer = setInterval(() => this.tick(), EVERY_MS);
      this.timer.unref();
    }
  }

  remove(one: Swept): void {
    this.swept.delete(one);
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.swept.clear();
  }

  private tick(): void {
    const now = performance.now();
    const late = now - this.last > LATE_MS;
    this.last = now;
    // While the program was busy, replies may have come that nobody has read yet. They are read first.
    if (late) setImmediate(() => this.sweep(performance.now()));
    else this.sweep(now);
  }

  private sweep(now: number): void {
    for (const one of [...this.swept]) {
      if (!one.sweep(now)) this.swept.delete(one);
    }
    if (this.swept.size === 0 && this.timer !== undefined) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
  }
}
