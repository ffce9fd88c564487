// Random numbers that a seed repeats: HS_SEED=n npm test.
export const SEED = Number(process.env['HS_SEED'] ?? Math.floor(Math.random() * 2 ** 31)) >>> 0;

export class Random {
  constructor(private state: number) {}

  /** From 0 to below `end`. */
  below(end: number): number {
    // mulberry32
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  }

  one<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** The bytes in pieces of random sizes. */
  cut(bytes: Buffer, most: number): Buffer[] {
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length;) {
      const end = Math.min(bytes.length, at + 1 + this.below(most));
      pieces.push(bytes.subarray(at, end));
      at = end;
    }
    return pieces;
  }
}
