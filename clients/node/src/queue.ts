// A queue of which the first can be taken without moving the others.

const COMPACTED_ABOVE = 4096;

export class Queue<T> {
  private items: (T | undefined)[] = [];
  private head = 0;

  get length(): number {
    return this.items.length - this.head;
  }

  get first(): T | undefined {
    return this.items[this.head];
  }

  push(item: T): void {
    this.items.push(item);
  }

  shift(): T | undefined {
    if (this.head === this.items.length) return undefined;
    const item = this.items[this.head];
    this.items[this.head] = undefined;
    this.head += 1;
    if (this.head === this.items.length) {
      this.items.length = 0;
      this.head = 0;
    } else if (this.head > COMPACTED_ABOVE && this.head * 2 > this.items.length) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return item;
  }

  /** Puts items before the first, in their order. */
  pushFront(items: readonly T[]): void {
    this.items = [...items, ...this.items.slice(this.head)];
    this.head = 0;
  }

  /** Takes everything. */
  takeAll(): T[] {
    const all = this.items.slice(this.head) as T[];
    this.items = [];
    this.head = 0;
    return all;
  }

  /** Forgets the items for which `keep` is false. */
  filter(keep: (item: T) => boolean): void {
    this.items = (this.items.slice(this.head) as T[]).filter(keep);
    this.head = 0;
  }

  forEach(visit: (item: T) => void): void {
    for (let at = this.head; at < this.items.length; at++) visit(this.items[at]!);
  }
}
