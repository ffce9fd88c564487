// Reads the rows of one large reply while it arrives. It owns what has come of the row that is not complete yet, and
// makes values only of complete rows. One for each iteration.
import { WrongReply } from './errors.js';
import { ByteStore } from './lines.js';
import { Piece } from './pieces.js';
import { readError, readHead, readRow } from './replies.js';
import type { ErrorReply, Shape } from './replies.js';

const LF = 10;
const TAB = 9;
// From here on, what has come of a row is not looked at again with each read: only the TABs in the new bytes are counted.
const LARGE = 1 << 16;
const LONGEST_HEAD = 64;

export class RowCutter {
  private readonly store = new ByteStore();
  private headRead = false;
  /** TABs in the store. A row of n values is complete at the TAB behind its n. */
  private tabs = 0;
  /** The whole reply was read. */
  done = false;
  /** The reply was an error. */
  error: ErrorReply | undefined;

  constructor(
    private readonly shape: Shape,
    private readonly maxBytes: number,
  ) {}

  /** Takes bytes up to the reply's end, gives each complete row to `onRow`, and says how many bytes were taken. */
  take(chunk: Buffer, onRow: (row: unknown) => void): number {
    const lf = chunk.indexOf(LF);
    const part = lf < 0 ? chunk : chunk.subarray(0, lf);
    this.done = lf >= 0;
    const large = this.store.length > LARGE;
    if (large) this.tabs += count(part);
    this.store.add(part);
    if (!large || this.done || this.tabs > this.shape.columns.length) this.read(onRow);
    if (this.store.length > this.maxBytes) throw new WrongReply(`a row is longer than ${this.maxBytes} bytes`);
    return lf < 0 ? chunk.length : lf + 1;
  }

  private read(onRow: (row: unknown) => void): void {
    const piece = new Piece(this.store.bytes);
    const { text } = piece;
    let at = this.headRead ? 0 : this.readHead(piece);
    if (!this.headRead) return;
    const end = this.done ? text.length : Math.max(at, this.lastRowEnd(text, at));
    while (at < end) {
      const row = this.shape.named ? {} : [];
      at = readRow(piece, at, end, this.shape, row);
      onRow(row);
    }
    this.store.drop(at);
    this.tabs = count(this.store.bytes);
  }

  /** Where the rows begin, as soon as the head is complete. */
  private readHead(piece: Piece): number {
    const { text } = piece;
    const first = text.indexOf('\t');
    const second = first < 0 ? -1 : text.indexOf('\t', first + 1);
    if (!this.done && second < 0) {
      if (text.length > LONGEST_HEAD) throw new WrongReply('a reply begins with two numbers');
      return 0;
    }
    const head = readHead(piece, 0, text.length);
    if (head.code !== 0) {
      if (this.done) this.error = readError(piece, head, text.length);
      return 0;
    }
    const width = this.shape.columns.length;
    if (head.count !== width) throw new WrongReply(`the reply has ${head.count} columns, and the index ${width}`);
    if (width === 0 && head.values < text.length) throw new WrongReply('the values do not fill rows');
    this.headRead = true;
    return head.values;
  }

  /** The TAB behind the last complete row. */
  private lastRowEnd(text: string, from: number): number {
    const width = this.shape.columns.length;
    let end = from;
    let values = 0;
    // The TAB at `from` begins the first value.
    for (let at = text.indexOf('\t', from + 1); at >= 0; at = text.indexOf('\t', at + 1)) {
      values += 1;
      if (values === width) {
        end = at;
        values = 0;
      }
    }
    return end;
  }
}

function count(bytes: Buffer): number {
  let tabs = 0;
  for (let at = bytes.indexOf(TAB); at >= 0; at = bytes.indexOf(TAB, at + 1)) tabs += 1;
  return tabs;
}
