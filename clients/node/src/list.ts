// Which databases, tables and indexes there are, and whether the server is there: the requests, and their replies.
import { WrongReply } from './errors.js';
import type { Piece } from './pieces.js';
import { readTexts } from './replies.js';
import type { ErrorReply, Head } from './replies.js';

/** An index of a table. */
export interface ListedIndex {
  readonly name: string;
  readonly unique: boolean;
  /** A hash index is not: it finds whole keys only. */
  readonly ordered: boolean;
  readonly parts: readonly ListedPart[];
}

/** A part of an index. */
export interface ListedPart {
  /** null for an expression. */
  readonly column: string | null;
  readonly descends: boolean;
  /** The index has only the beginning of the values. */
  readonly prefix: boolean;
}

const PING = 'ping';
/** Sent to see whether the server is there, because it comes back. */
export const PING_LINE = `echo\t${PING}\n`;
// The name of an index, whether it is unique and ordered, the column of a part, whether that descends, and whether it is a prefix.
const WIDTH = 6;

/** The names of databases or tables. */
export function readNames(piece: Piece, head: Head, to: number): string[] {
  const names = readTexts(piece, head.values, to);
  if (head.count !== 1 || names.includes(null)) throw new WrongReply('the reply is no list of names');
  return names as string[];
}

/** Each row is a part of an index. Those that follow one another with the same name are one index. */
export function readIndexes(piece: Piece, head: Head, to: number): ListedIndex[] {
  const texts = readTexts(piece, head.values, to);
  if (head.count !== WIDTH || texts.length % WIDTH !== 0) throw wrong();
  const indexes: (ListedIndex & { readonly parts: ListedPart[] })[] = [];
  for (let at = 0; at < texts.length; at += WIDTH) {
    const [name, unique, ordered, column, descends, prefix] = texts.slice(at, at + WIDTH) as [string | null, ...(string | null)[]];
    if (name === null) throw wrong();
    const index = { name, unique: flag(unique!), ordered: flag(ordered!), parts: [] };
    if (indexes.at(-1)?.name !== name) indexes.push(index);
    indexes.at(-1)!.parts.push({ column: column!, descends: flag(descends!), prefix: flag(prefix!) });
  }
  return indexes;
}

function flag(text: string | null): boolean {
  if (text !== '1' && text !== '0') throw wrong();
  return text === '1';
}

function wrong(): WrongReply {
  return new WrongReply('the reply is no list of indexes');
}

/** The value that comes back for a ping. */
export function readPong(piece: Piece, head: Head, to: number): void {
  const texts = readTexts(piece, head.values, to);
  if (head.count !== 1 || texts.length !== 1 || texts[0] !== PING) throw new WrongReply('the reply is no echo of the ping');
}

/** A server that does not know the request is there, too. */
export function isPong(error: ErrorReply): boolean {
  return error.text === 'cmd';
}
