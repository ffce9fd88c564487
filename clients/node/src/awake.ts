// Keeps the event loop from sleeping while the reply to a caller that is alone is on its way. Most of such a caller's time goes
// into falling asleep and being woken. Who has company is better served by a process that sleeps: the server works meanwhile.
import { availableParallelism } from 'node:os';

/** A look ends after so many milliseconds. */
const LONGEST_LOOK = 0.1;
/** So many requests in succession have to have been alone before the next one is looked for. */
const ALONE_BEFORE = 8;
/** The most requests that are not looked for after looks in vain. */
const MOST_LEFT_OUT = 1024;
/** With one processor the server could not work meanwhile. */
export const HAS_PROCESSORS = availableParallelism() > 1;

/** Of one connection. */
export class Awake {
  /** Requests in succession that were alone when they were added. */
  private alone = 0;
  /** Looks in succession that were in vain, and how many requests are still left out for that. */
  private vain = 0;
  private leftOut = 0;
  private until = 0;
  private looking = false;
  private scheduled = false;

  constructor(private readonly allowed: boolean) {}

  /** A request was added; `others` are in flight without it. */
  added(others: number): void {
    if (others === 0) {
      if (this.alone < ALONE_BEFORE) this.alone += 1;
    } else {
      this.alone = 0;
      this.looking = false;
    }
  }

  /** What was added was written. */
  written(): void {
    if (this.alone < ALONE_BEFORE || this.looking || !this.allowed) return;
    if (this.leftOut > 0) {
      this.leftOut -= 1;
      return;
    }
    this.looking = true;
    this.until = performance.now() + LONGEST_LOOK;
    if (!this.scheduled) {
      this.scheduled = true;
      setImmediate(this.look);
    }
  }

  /** Bytes have come. */
  came(): void {
    if (!this.looking) return;
    this.looking = false;
    this.vain = 0;
  }

  /** Nothing will come any more. */
  stop(): void {
    this.looking = false;
  }

  // While something is scheduled in this way, the event loop asks for what has come, and does not sleep.
  private readonly look = (): void => {
    if (this.looking && performance.now() < this.until) {
      setImmediate(this.look);
      return;
    }
    this.scheduled = false;
    if (!this.looking) return;
    this.looking = false;
    this.vain += 1;
    this.leftOut = Math.min(2 ** this.vain, MOST_LEFT_OUT);
  };
}
