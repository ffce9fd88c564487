// The types that a caller gives to columns: how a token is read as one, and how a value of it is written.
// Reading happens for each value of each row, so short tokens are read character by character, without a copy.
import { isUtf8 } from 'node:buffer';
import { WrongValue, usage } from './errors.js';
import type { Piece } from './pieces.js';
import { NULL_TOKEN, describe, doubleToken, textToken, valueToken } from './tokens.js';
import type { Value } from './tokens.js';

/** What each type is in JavaScript. */
export interface TypeMap {
  /** Text. */
  string: string;
  /** A whole number of at most 53 bits, or a fraction. One beyond is an error: use `bigint`, or `double` if it is a DOUBLE. */
  number: number;
  /** A whole number of at most 53 bits. */
  integer: number;
  /** A DOUBLE or FLOAT, also beyond 2^53. */
  double: number;
  /** A whole number of any size. */
  bigint: bigint;
  /** A DECIMAL, exact: its text. */
  decimal: string;
  /** `0` or `1`, or a BIT(1). */
  boolean: boolean;
  bytes: Buffer;
  json: unknown;
  /** `2024-02-29`. A zero date is an error. */
  date: string;
  /** `2024-02-29 12:30:00.5`, as the column has it, without a time zone. A zero date is an error. */
  datetime: string;
  /** The beginning of the day in UTC. */
  'date.utc': Date;
  /** A moment, if the column holds UTC. */
  'datetime.utc': Date;
  /** A TIME, in milliseconds; it may be negative and longer than a day. */
  time: number;
  uuid: string;
}

export type TypeName = keyof TypeMap;

/** A type of the caller's own. `read` gets a copy of the bytes, or null for NULL. */
export interface CustomType<T> {
  read(bytes: Buffer | null): T;
  write?(value: T): Value;
}

/** The type of a column. With a `?` behind it, the column can be NULL. A type of one's own says by `read` what it is. */
export type ColumnType = TypeName | `${TypeName}?` | CustomType<any>;

/** What a column of this type is in a row. */
export type ValueOf<T> =
  T extends CustomType<infer V>
    ? V
    : T extends `${infer N extends TypeName}?`
      ? TypeMap[N] | null
      : T extends TypeName
        ? TypeMap[T]
        : never;

/** Reads the token between two places of a piece. It is not NULL and has no escapes. */
export type Reader = (piece: Piece, from: number, to: number) => unknown;

/** A column as rows are read and written with it. */
export interface Column {
  readonly name: string;
  readonly read: Reader;
  /** What NULL is read as; undefined if it is an error. */
  readonly readNull: (() => unknown) | undefined;
  readonly write: (value: unknown) => string;
}

// V8 copies shorter parts of a string. A longer one would keep the whole piece in memory, so it is made from the bytes.
const COPIED_BELOW = 13;
const MOST_DIGITS = 15;
const ZERO = 48;
const NINE = 57;
const MINUS = 45;
const WHOLE = /^-?\d+$/;
const DECIMAL = /^-?(?:\d+\.?\d*|\.\d+)$/;
const NUMBER = /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const DATETIME = /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?$/;
const TIME = /^(-?)(\d{2,3}):(\d\d):(\d\d)(?:\.(\d{1,6}))?$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Text. The bytes have to be UTF-8: a BINARY column read as text would otherwise become another value. */
function readString(piece: Piece, from: number, to: number): string {
  if (to - from < COPIED_BELOW) {
    if (piece.ascii) return piece.text.slice(from, to);
    let at = from;
    while (at < to && piece.text.charCodeAt(at) < 0x80) at++;
    if (at === to) return piece.text.slice(from, to);
  } else if (piece.ascii) {
    return piece.bytes.toString('latin1', from, to);
  }
  const text = piece.bytes.toString('utf8', from, to);
  if (text.includes('\ufffd') && !isUtf8(piece.bytes.subarray(from, to))) {
    throw new WrongValue("the bytes are no text in UTF-8: read them as 'bytes'");
  }
  return text;
}

/** A whole number of few digits, or -1 if it is something else. */
function shortWhole(piece: Piece, from: number, to: number): number {
  if (to - from > MOST_DIGITS || from === to) return -1;
  let number = 0;
  for (let at = from; at < to; at++) {
    const digit = piece.text.charCodeAt(at);
    if (digit < ZERO || digit > NINE) return -1;
    number = number * 10 + (digit - ZERO);
  }
  return number;
}

/** The same with a sign, or NaN. */
function shortInteger(piece: Piece, from: number, to: number): number {
  const negative = piece.text.charCodeAt(from) === MINUS && from < to;
  const short = shortWhole(piece, negative ? from + 1 : from, to);
  if (short < 0) return NaN;
  return negative && short > 0 ? -short : short;
}

function readInteger(piece: Piece, from: number, to: number): number {
  const short = shortInteger(piece, from, to);
  if (!Number.isNaN(short)) return short;
  const text = ascii(piece, from, to);
  if (!WHOLE.test(text)) throw new WrongValue('it is no whole number');
  return checkedWhole(Number(text));
}

function readNumber(piece: Piece, from: number, to: number): number {
  const short = shortInteger(piece, from, to);
  if (!Number.isNaN(short)) return short;
  const text = ascii(piece, from, to);
  return WHOLE.test(text) ? checkedWhole(Number(text)) : readDouble(piece, from, to);
}

function checkedWhole(number: number): number {
  if (Number.isSafeInteger(number)) return number;
  throw new WrongValue("the number has more than 53 bits: read it as 'bigint', or a DOUBLE as 'double'");
}

function readDouble(piece: Piece, from: number, to: number): number {
  const text = ascii(piece, from, to);
  if (!NUMBER.test(text)) throw new WrongValue('it is no number');
  const number = Number(text);
  if (!Number.isFinite(number)) throw new WrongValue('the number is too large for a double');
  return number;
}

function readBigint(piece: Piece, from: number, to: number): bigint {
  const short = shortWhole(piece, from, to);
  if (short >= 0) return BigInt(short);
  const text = ascii(piece, from, to);
  if (!WHOLE.test(text)) throw new WrongValue('it is no whole number');
  return BigInt(text);
}

/** A short-lived string, for what is ASCII if it is right. */
function ascii(piece: Piece, from: number, to: number): string {
  return piece.text.slice(from, to);
}

function matched(pattern: RegExp, what: string): Reader {
  return (piece, from, to) => {
    const text = readString(piece, from, to);
    if (!pattern.test(text)) throw new WrongValue(what);
    return text;
  };
}

function readBoolean(piece: Piece, from: number, to: number): boolean {
  const code = to - from === 1 ? piece.text.charCodeAt(from) : NaN;
  if (code === 0x30 || code === 0) return false;
  if (code === 0x31 || code === 1) return true;
  throw new WrongValue('it is neither 0 nor 1');
}

function readJson(piece: Piece, from: number, to: number): unknown {
  try {
    return JSON.parse(readString(piece, from, to));
  } catch (error) {
    if (error instanceof WrongValue) throw error;
    // Its message would show a part of the value.
    throw new WrongValue('it is no JSON');
  }
}

function checkDay(year: string, month: string, day: string): void {
  if (month === '00' || day === '00') {
    throw new WrongValue("a zero date is no date: read it as 'string'");
  }
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  // Under some modes the server holds the 30th of February.
  if (date.getUTCDate() !== Number(day)) throw new WrongValue("there is no such day: read it as 'string'");
}

function partsOf(pattern: RegExp, text: string, what: string): RegExpExecArray {
  const parts = pattern.exec(text);
  if (parts === null) throw new WrongValue(what);
  return parts;
}

function readDate(piece: Piece, from: number, to: number): string {
  const text = readString(piece, from, to);
  const [, year, month, day] = partsOf(DATE, text, 'it is no date');
  checkDay(year!, month!, day!);
  return text;
}

function readDatetime(piece: Piece, from: number, to: number): string {
  const text = readString(piece, from, to);
  const [, year, month, day] = partsOf(DATETIME, text, 'it is no date with a time');
  checkDay(year!, month!, day!);
  return text;
}

function readDateUtc(piece: Piece, from: number, to: number): Date {
  return new Date(`${readDate(piece, from, to)}T00:00:00Z`);
}

function readDatetimeUtc(piece: Piece, from: number, to: number): Date {
  const text = readDatetime(piece, from, to);
  const fraction = text.slice(20);
  if (/[1-9]/.test(fraction.slice(3))) {
    throw new WrongValue("a Date has milliseconds only: read it as 'datetime'");
  }
  return new Date(`${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.slice(0, 3).padEnd(3, '0')}Z`);
}

function readTime(piece: Piece, from: number, to: number): number {
  const [, sign, hours, minutes, seconds, fraction] = partsOf(TIME, ascii(piece, from, to), 'it is no time');
  const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  const micros = whole * 1e6 + Number((fraction ?? '').padEnd(6, '0'));
  return sign === '-' && micros > 0 ? -micros / 1000 : micros / 1000;
}

function readBytes(piece: Piece, from: number, to: number): Buffer {
  return Buffer.from(piece.bytes.subarray(from, to));
}

const READERS: Record<TypeName, Reader> = {
  string: readString,
  number: readNumber,
  integer: readInteger,
  double: readDouble,
  bigint: readBigint,
  decimal: matched(DECIMAL, 'it is no decimal number'),
  boolean: readBoolean,
  bytes: readBytes,
  json: readJson,
  date: readDate,
  datetime: readDatetime,
  'date.utc': readDateUtc,
  'datetime.utc': readDatetimeUtc,
  time: readTime,
  uuid: matched(UUID, 'it is no UUID'),
};

/** Text of a moment as the column has it, in UTC. */
function utcToken(value: unknown, length: number): string {
  if (!(value instanceof Date)) return valueToken(value);
  if (Number.isNaN(value.getTime())) throw usage('an invalid Date is no value of a column');
  const text = value.toISOString();
  if (!/^\d{4}-/.test(text)) throw usage('a Date outside of the years 0 to 9999 is no value of a column');
  return text.slice(0, length).replace('T', ' ');
}

function timeToken(value: unknown): string {
  if (typeof value !== 'number') return valueToken(value);
  const micros = Math.round(Math.abs(value) * 1000);
  if (!Number.isSafeInteger(micros)) throw usage('a TIME is a number of milliseconds');
  const seconds = Math.floor(micros / 1e6);
  const two = (number: number): string => String(number).padStart(2, '0');
  const fraction = micros % 1e6 === 0 ? '' : `.${String(micros % 1e6).padStart(6, '0')}`;
  const sign = value < 0 && micros > 0 ? '-' : '';
  return `${sign}${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}${fraction}`;
}

function jsonToken(value: unknown): string {
  if (value === null) return NULL_TOKEN;
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw usage(`JSON has no place for ${describe(value)}`);
  return textToken(text);
}

const WRITERS: Partial<Record<TypeName, (value: unknown) => string>> = {
  double: (value) => (typeof value === 'number' ? doubleToken(value) : valueToken(value)),
  json: jsonToken,
  'date.utc': (value) => utcToken(value, 10),
  'datetime.utc': (value) => utcToken(value, 23),
  time: timeToken,
};

function customColumn(name: string, type: CustomType<unknown>): Column {
  const checked = (bytes: Buffer | null): unknown => {
    try {
      return type.read(bytes);
    } catch (error) {
      throw new WrongValue('the type of the column refused the value', { cause: error });
    }
  };
  return {
    name,
    read: (piece, from, to) => checked(readBytes(piece, from, to)),
    readNull: () => checked(null),
    write: (value) => valueToken(type.write === undefined || value === null ? value : type.write(value)),
  };
}

const NULL_IS_NULL = (): null => null;

export function columnOf(name: string, type: ColumnType): Column {
  if (typeof type === 'object' && type !== null && typeof type.read === 'function') return customColumn(name, type);
  const nullable = typeof type === 'string' && type.endsWith('?');
  const known = nullable ? type.slice(0, -1) : type;
  if (typeof known !== 'string' || !Object.hasOwn(READERS, known)) {
    throw usage(
      `the column ${JSON.stringify(name)} has an unknown type: ${typeof type === 'string' ? JSON.stringify(type) : describe(type)}`,
    );
  }
  return {
    name,
    read: READERS[known as TypeName],
    readNull: nullable ? NULL_IS_NULL : undefined,
    write: WRITERS[known as TypeName] ?? valueToken,
  };
}
