// The connections on which large results are read row by row: one for each iteration, as many as are allowed, and one of
// them is kept for the next.
import { Channel } from './channel.js';
import type { Core } from './core.js';
import { Queue } from './queue.js';
import type { Slot } from './slot.js';

const KEPT = 1;

export class Streams {
  private readonly idle: Channel[] = [];
  private readonly active = new Map<Slot, Channel>();
  private readonly waiting = new Queue<Slot>();

  constructor(
    private readonly core: Core,
    private readonly most: number,
  ) {}

  get channels(): Channel[] {
    return [...this.idle, ...this.active.values()];
  }

  get isIdle(): boolean {
    return this.active.size === 0 && this.waiting.length === 0;
  }

  submit(slot: Slot): void {
    if (this.active.size < this.most) this.start(slot);
    else if (this.core.settings.whenFull === 'fail') slot.failWith('busy', 'too many iterations at once (max_streams)');
    else {
      this.waiting.push(slot);
      this.core.sweeper.add(this);
    }
  }

  private start(slot: Slot): void {
    const channel = this.idle.pop() ?? new Channel(this.core, 'stream', 'read');
    this.active.set(slot, channel);
    channel.submit(slot);
  }

  /** The iteration is over. Its connection is kept if its reply was read to the end. */
  finished(slot: Slot): void {
    const channel = this.active.get(slot);
    if (channel === undefined) return;
    this.active.delete(slot);
    if (channel.isOpen && this.idle.length < KEPT && !this.core.closed) this.idle.push(channel);
    else channel.close(this.core.closed ? undefined : 'another connection is kept');
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      if (next.settled) continue;
      this.start(next);
      return;
    }
  }

  sweep(now: number): boolean {
    this.waiting.forEach((slot) => {
      if (slot.settled || slot.deadline === 0 || now < slot.deadline) return;
      this.core.observer.counters.givenUp += 1;
      slot.failWith('timeout', 'too many iterations at once (max_streams): none ended in time');
    });
    this.waiting.filter((slot) => !slot.settled);
    return this.waiting.length > 0;
  }

  close(): void {
    for (const slot of this.waiting.takeAll()) slot.failWith('closed', 'the client is closed');
  }
}
