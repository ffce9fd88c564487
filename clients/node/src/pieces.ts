// Bytes that have arrived, as a string in which each character is one byte, so that one place means the same in both.
// A piece is read at once and then forgotten: its bytes may be the buffer into which the socket reads again.
import { isAscii } from 'node:buffer';
import { WrongReply } from './errors.js';

const ESCAPE = '\x01';
const UNESCAPED = /\x01([\s\S]?)/g;
const FIRST_ESCAPED = 0x40;
const LAST_ESCAPED = 0x4f;

export class Piece {
  readonly text: string;
  /** No byte has its highest bit. */
  readonly ascii: boolean;
  /** There may be escapes. */
  readonly escapes: boolean;

  constructor(readonly bytes: Buffer) {
    this.text = bytes.toString('latin1');
    this.ascii = isAscii(bytes);
    this.escapes = this.text.includes(ESCAPE);
  }
}

export function hasEscapes(piece: Piece, from: number, to: number): boolean {
  if (!piece.escapes) return false;
  const at = piece.text.indexOf(ESCAPE, from);
  return at >= 0 && at < to;
}

/** A token without its escapes, as a piece of its own. */
export function unescaped(piece: Piece, from: number, to: number): Piece {
  const bytes = piece.text.slice(from, to).replace(UNESCAPED, (_, character: string) => {
    const code = character === '' ? 0 : character.charCodeAt(0);
    if (code < FIRST_ESCAPED || code > LAST_ESCAPED) throw new WrongReply('a wrong escape');
    return String.fromCharCode(code - FIRST_ESCAPED);
  });
  return new Piece(Buffer.from(bytes, 'latin1'));
}
