// What the lines of a group's reply say together.
import { WrongReply } from './errors.js';
import type { Piece } from './pieces.js';
import { readError, readHead } from './replies.js';
import type { ErrorReply } from './replies.js';
import type { Slot } from './slot.js';

/** The error of a request that has not failed itself. */
export const UNDONE = 'undone';

/** The lines of a group's reply until all are there. */
export class Gathered {
  private lines: Buffer[] = [];
  size = 0;

  /** How many there are now. The bytes belong to the socket, so they are copied. */
  add(line: Buffer): number {
    this.size += line.length;
    return this.lines.push(Buffer.from(line));
  }

  takeAll(): Buffer {
    const all = Buffer.concat(this.lines);
    this.lines = [];
    this.size = 0;
    return all;
  }
}

/**
 * Reads all lines of a group. If it was done, `give` gets that of each request; otherwise the error is the result.
 * Lines that contradict each other are no reply: a server that does not know groups does the requests one by one.
 */
export function readGroup(
  slot: Slot,
  piece: Piece,
  give: (member: Slot, from: number, end: number) => void,
): (ErrorReply & { readonly line: number }) | undefined {
  const members = slot.group!;
  const ends: number[] = [];
  for (let end = piece.text.indexOf('\n'); end >= 0; end = piece.text.indexOf('\n', end + 1)) ends.push(end);
  const first = readHead(piece, 0, ends[0]!);
  const begin = (place: number): number => ends[place]! + 1;
  members.forEach((_, place) => {
    const { code } = readHead(piece, begin(place), ends[place + 1]!);
    if ((code === 0) !== (first.code === 0)) throw new WrongReply('the lines contradict each other: this is no group');
  });
  if (first.code === 0) {
    if (first.values < ends[0]!) throw new WrongReply('the reply to a group has a value');
    members.forEach((member, place) => give(member, begin(place), ends[place + 1]!));
    return undefined;
  }
  const whole = readError(piece, first, ends[0]!);
  if (whole.text !== UNDONE) return { ...whole, line: 0 };
  const number = whole.behind ?? '';
  const place = /^[1-9]\d{0,3}$/.test(number) ? Number(number) - 1 : members.length;
  const failed = members[place];
  if (failed === undefined) throw new WrongReply('the number of the request that has failed is missing');
  const end = ends[place + 1]!;
  const own = readError(piece, readHead(piece, begin(place), end), end);
  // Behind a P that failed the index is not open: why is what counts.
  return { ...(failed.opened?.error ?? own), line: failed.number };
}
