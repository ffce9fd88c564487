// What the line of a reply says. Whatever is no reply to the request throws WrongReply: nothing behind it can be trusted.
// A value that does not fit the caller's type throws WrongValue, but only if the rest of the line is right.
import { WrongReply, WrongValue } from './errors.js';
import { Piece, hasEscapes, unescaped } from './pieces.js';
import type { Column } from './column-types.js';

const TAB = 9;
const ZERO = 48;

/** How the values of a row are read, and what a row is. */
export interface Shape {
  readonly columns: readonly Column[];
  /** An object by the columns' names, or an array. */
  readonly named: boolean;
}

/** The digits between two places as a number, or -1. */
function digits(text: string, from: number, to: number): number {
  if (from === to) return -1;
  let number = 0;
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    number = number * 10 + digit;
  }
  return number;
}

/** The beginning of a reply. */
export interface Head {
  code: number;
  count: number;
  /** Where the values begin: a TAB, or the end of the line. */
  values: number;
}

/** Into `head`, if there is one that is not needed any more. */
export function readHead(piece: Piece, from: number, to: number, head: Head = { code: 0, count: 0, values: 0 }): Head {
  const { text } = piece;
  const first = endOfToken(text, from, to);
  const second = first < to ? endOfToken(text, first + 1, to) : to;
  const code = digits(text, from, first);
  const count = first < to ? digits(text, first + 1, second) : -1;
  if (code < 0 || count < 0) throw new WrongReply('a reply begins with two numbers');
  head.code = code;
  head.count = count;
  head.values = second;
  return head;
}

function endOfToken(text: string, from: number, to: number): number {
  const end = text.indexOf('\t', from);
  return end < 0 || end > to ? to : end;
}

/** What the server tells of an error with the option `texts`. */
export interface Told {
  readonly number: number;
  readonly sqlState: string;
  readonly message: string;
}

/** A reply that is an error. */
export interface ErrorReply {
  readonly code: number;
  readonly text: string;
  readonly told: Told | undefined;
  /** The token behind all that, which says what has failed of a group; undefined if there is none, or more than one. */
  readonly behind: string | undefined;
  /** It answers a P, on a connection that can open no more indexes. */
  readonly isFull?: boolean;
}

// The text, SQL's number, its state, and the message.
const WITH_TEXTS = 4;

export function readError(piece: Piece, head: Head, to: number): ErrorReply {
  const tokens = readTexts(piece, head.values, to, WITH_TEXTS + 2).map((token) => token ?? '');
  const [text = '', number, sqlState, message] = tokens;
  const { code } = head;
  if (number === undefined || sqlState === undefined || message === undefined || !/^\d{1,15}$/.test(number)) {
    return { code, text, told: undefined, behind: tokens.length === 2 ? number : undefined };
  }
  return {
    code,
    text,
    told: { number: Number(number), sqlState, message },
    behind: tokens.length === WITH_TEXTS + 1 ? tokens[WITH_TEXTS] : undefined,
  };
}

/** The tokens of a reply as texts, or the first of them. */
export function readTexts(piece: Piece, values: number, to: number, most = Infinity): (string | null)[] {
  const texts: (string | null)[] = [];
  for (let at = values; at < to && texts.length < most;) {
    const end = endOfToken(piece.text, at + 1, to);
    texts.push(readText(piece, at + 1, end));
    at = end;
  }
  return texts;
}

function readText(piece: Piece, from: number, to: number): string | null {
  if (to - from === 1 && piece.text.charCodeAt(from) === 0) return null;
  if (hasEscapes(piece, from, to)) return unescaped(piece, from, to).bytes.toString('utf8');
  return piece.bytes.toString('utf8', from, to);
}

/** Names and values, in their order. */
export function readPairs(piece: Piece, head: Head, to: number): Map<string, string> {
  const texts = readTexts(piece, head.values, to);
  if (head.count !== 2 || texts.length % 2 !== 0) throw new WrongReply('the reply is no list of names and values');
  const pairs = new Map<string, string>();
  for (let i = 0; i < texts.length; i += 2) {
    const [name, value] = [texts[i]!, texts[i + 1]!];
    if (name === null || value === null) throw new WrongReply('the reply is no list of names and values');
    pairs.set(name, value);
  }
  return pairs;
}

/** The rows behind the head of a reply. */
export function readRows(piece: Piece, values: number, to: number, count: number, shape: Shape): unknown[] {
  const width = shape.columns.length;
  if (count !== width) throw new WrongReply(`the reply has ${count} columns, and the index ${width}`);
  if (width === 0 && values < to) throw new WrongReply('the values do not fill rows');
  const rows: unknown[] = [];
  let at = values;
  let wrong: WrongValue | undefined;
  while (at < to) {
    const row = shape.named ? {} : [];
    try {
      at = readRow(piece, at, to, shape, row);
      rows.push(row);
    } catch (error) {
      if (!(error instanceof WrongValue)) throw error;
      wrong ??= error;
      at = skipRow(piece, at, to, width);
    }
  }
  if (wrong !== undefined) throw wrong;
  return rows;
}

/** Reads a row's values, each behind its TAB, into the empty `row`, and says where they end. */
export function readRow(piece: Piece, from: number, to: number, shape: Shape, row: Record<string, unknown> | unknown[]): number {
  return Array.isArray(row) ? readPlainRow(piece, from, to, shape.columns, row) : readNamedRow(piece, from, to, shape.columns, row);
}

function readNamedRow(piece: Piece, from: number, to: number, columns: readonly Column[], row: Record<string, unknown>): number {
  let at = from;
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i]!;
    const end = endOfValue(piece.text, at, to);
    row[column.name] = readValue(piece, at + 1, end, column);
    at = end;
  }
  return at;
}

function readPlainRow(piece: Piece, from: number, to: number, columns: readonly Column[], row: unknown[]): number {
  let at = from;
  for (let i = 0; i < columns.length; i++) {
    const end = endOfValue(piece.text, at, to);
    row.push(readValue(piece, at + 1, end, columns[i]!));
    at = end;
  }
  return at;
}

/** Checks what is behind a value that did not fit, and says where its row ends. */
export function skipRow(piece: Piece, from: number, to: number, width: number): number {
  let at = from;
  for (let i = 0; i < width; i++) {
    const end = endOfValue(piece.text, at, to);
    if (hasEscapes(piece, at + 1, end)) unescaped(piece, at + 1, end);
    at = end;
  }
  return at;
}

function endOfValue(text: string, at: number, to: number): number {
  if (at >= to) throw new WrongReply('the values do not fill rows');
  return endOfToken(text, at + 1, to);
}

function readValue(piece: Piece, from: number, to: number, column: Column): unknown {
  if (to - from === 1 && piece.text.charCodeAt(from) === 0) {
    if (column.readNull === undefined) throw new WrongValue(`the column ${JSON.stringify(column.name)} is NULL: its type needs a ?`);
    return column.readNull();
  }
  try {
    if (!piece.escapes || !hasEscapes(piece, from, to)) return column.read(piece, from, to);
    const own = unescaped(piece, from, to);
    return column.read(own, 0, own.bytes.length);
  } catch (error) {
    if (error instanceof WrongValue) {
      throw new WrongValue(`the column ${JSON.stringify(column.name)}: ${error.message}`, { cause: error.cause });
    }
    throw error;
  }
}

/** How many rows were modified. */
export function readModified(piece: Piece, values: number, to: number): number {
  const number = values < to && piece.text.charCodeAt(values) === TAB ? digits(piece.text, values + 1, to) : -1;
  if (number < 0) throw new WrongReply('the number of modified rows is missing');
  return number;
}

/** The AUTO_INCREMENT value, or null. A signed column may have been given a negative one. */
export function readId(piece: Piece, values: number, to: number): bigint | null {
  if (values >= to) return null;
  const from = values + 1;
  const short = to - from <= 15 ? digits(piece.text, from, to) : -1;
  if (short >= 0) return BigInt(short);
  const text = piece.text.slice(from, to);
  if (!/^-?\d{1,20}$/.test(text)) throw new WrongReply('the AUTO_INCREMENT value is no number');
  return BigInt(text);
}

/** Whether there is a row. */
export function readExists(piece: Piece, values: number, to: number): boolean {
  const number = readModified(piece, values, to);
  if (number > 1) throw new WrongReply('the reply is neither 1 nor 0');
  return number === 1;
}

/** What was done of a row. */
export type Done = 'inserted' | 'updated' | 'unchanged' | 'ignored' | 'replaced' | 'unmet';

/** What was done of a row, and the AUTO_INCREMENT value of the row that is in the table now. */
export interface Outcome {
  readonly done: Done;
  readonly id: bigint | null;
}

const DONE: ReadonlySet<string> = new Set<Done>(['inserted', 'updated', 'unchanged', 'ignored', 'replaced', 'unmet']);

/** What was done of each of so many rows. */
export function readOutcomes(piece: Piece, values: number, to: number, count: number, rows: number): Outcome[] {
  if (count !== 2) throw new WrongReply(`the reply has ${count} columns in place of 2`);
  const outcomes: Outcome[] = [];
  let at = values;
  while (at < to) {
    const end = endOfValue(piece.text, at, to);
    const done = piece.text.slice(at + 1, end);
    if (!DONE.has(done)) throw new WrongReply('the reply does not say what was done of a row');
    at = endOfValue(piece.text, end, to);
    const isNull = at - end === 2 && piece.text.charCodeAt(end + 1) === 0;
    outcomes.push({ done: done as Done, id: isNull ? null : readId(piece, end, at) });
  }
  if (outcomes.length !== rows) throw new WrongReply(`the reply tells of ${outcomes.length} rows in place of ${rows}`);
  return outcomes;
}
