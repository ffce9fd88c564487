// Cuts what a socket reads into complete lines. It owns the beginning of a line whose end has not come yet, and nothing
// else: what it hands out is valid only during the call.

const LF = 10;
const SMALLEST = 4096;
// A larger buffer is given back when it is empty.
const KEPT = 1 << 20;

/** Bytes to which others are added. Adding costs as much as the bytes that are added, on average. */
export class ByteStore {
  private buffer: Buffer = Buffer.alloc(0);
  private used = 0;

  get length(): number {
    return this.used;
  }

  /** The bytes, until the next call of any method. */
  get bytes(): Buffer {
    return this.buffer.subarray(0, this.used);
  }

  add(bytes: Buffer): void {
    const wanted = this.used + bytes.length;
    if (wanted > this.buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(SMALLEST, wanted, 2 * this.buffer.length));
      this.buffer.copy(larger, 0, 0, this.used);
      this.buffer = larger;
    }
    bytes.copy(this.buffer, this.used);
    this.used = wanted;
  }

  /** Forgets the first bytes. */
  drop(count: number): void {
    if (count < this.used) this.buffer.copyWithin(0, count, this.used);
    this.used -= count;
    if (this.used === 0 && this.buffer.length > KEPT) this.buffer = Buffer.alloc(0);
  }
}

export class LineCutter {
  private readonly store = new ByteStore();

  /** How many bytes of an incomplete line there are. */
  get held(): number {
    return this.store.length;
  }

  /** The beginning of an incomplete line, until the next call of any method. */
  get rest(): Buffer {
    return this.store.bytes;
  }

  /**
   * Takes bytes. `onLines` gets complete lines, with the last LF, in one piece.
   * With `onlyOne`, only the first line is taken. Says how many bytes were taken.
   */
  take(chunk: Buffer, onlyOne: boolean, onLines: (lines: Buffer) => void): number {
    const end = (onlyOne ? chunk.indexOf(LF) : chunk.lastIndexOf(LF)) + 1;
    if (end === 0) {
      this.store.add(chunk);
      return chunk.length;
    }
    const rest = onlyOne ? undefined : chunk.subarray(end);
    if (this.store.length === 0) {
      onLines(chunk.subarray(0, end));
    } else {
      this.store.add(chunk.subarray(0, end));
      onLines(this.store.bytes);
      this.store.drop(this.store.length);
    }
    if (rest === undefined) return end;
    if (rest.length > 0) this.store.add(rest);
    return chunk.length;
  }
}
