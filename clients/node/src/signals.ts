// The abort signals of calls. A signal that many calls share has one listener, and none when they have ended.
import type { Slot } from './slot.js';

interface Watch {
  readonly slots: Set<Slot>;
  readonly listener: () => void;
}

export class Signals {
  private readonly watches = new WeakMap<AbortSignal, Watch>();

  constructor(private readonly onAbort: (slot: Slot, reason: unknown) => void) {}

  /** Until the slot has ended. */
  watch(slot: Slot, signal: AbortSignal): void {
    const watch = this.watches.get(signal) ?? this.begin(signal);
    watch.slots.add(slot);
    const { onEnd } = slot;
    slot.onEnd = (ended, outcome) => {
      watch.slots.delete(slot);
      if (watch.slots.size === 0) this.end(signal, watch);
      onEnd?.(ended, outcome);
    };
  }

  private begin(signal: AbortSignal): Watch {
    const slots = new Set<Slot>();
    const listener = (): void => {
      for (const slot of [...slots]) this.onAbort(slot, signal.reason);
    };
    const watch = { slots, listener };
    signal.addEventListener('abort', listener, { once: true });
    this.watches.set(signal, watch);
    return watch;
  }

  private end(signal: AbortSignal, watch: Watch): void {
    signal.removeEventListener('abort', watch.listener);
    this.watches.delete(signal);
  }
}
