// Tokens: how values and names are written into a request. A request is a string in which each character is one byte
// ("bytes as characters"), so that its length is its size and it needs no encoder when it is sent.
import { usage } from './errors.js';

/** What can be written as a value, if no type of a column says more. */
export type Value = string | number | bigint | boolean | null | Uint8Array;

/** The protocol's NULL, a single byte. An empty token is an empty string. */
export const NULL_TOKEN = '\0';

// A string without these is its own token: ASCII, and none of the bytes that are escaped.
const NOT_PLAIN = /[^\x10-\x7f]/;
const ESCAPED = /[\0-\x0f]/g;
const HAS_ESCAPED = /[\0-\x0f]/;
const SHIFT = 0x40;
const MOST = 2n ** 64n - 1n;

function escapeByte(character: string): string {
  return '\x01' + String.fromCharCode(character.charCodeAt(0) + SHIFT);
}

/** A token of bytes as characters. */
function escape(bytes: string): string {
  return HAS_ESCAPED.test(bytes) ? bytes.replace(ESCAPED, escapeByte) : bytes;
}

/** Text as the characters of its UTF-8 bytes. */
function utf8(text: string, what: string): string {
  // With a lone surrogate it would be another text that arrives.
  if (!(text as string & { isWellFormed(): boolean }).isWellFormed()) {
    throw usage(`${what} is not Unicode: it holds half a surrogate pair`);
  }
  return Buffer.from(text, 'utf8').toString('latin1');
}

export function textToken(text: string): string {
  return NOT_PLAIN.test(text) ? escape(utf8(text, 'a value')) : text;
}

export function bytesToken(bytes: Uint8Array): string {
  return escape(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1'));
}

/** A number as JavaScript writes it. One that may already have lost digits is refused. */
function numberToken(number: number): string {
  if (Number.isInteger(number)) {
    if (Number.isSafeInteger(number)) return Object.is(number, -0) ? '0' : String(number);
    throw usage('a whole number beyond 2^53 may have lost digits: give a bigint, or name the column a double');
  }
  return doubleToken(number);
}

export function doubleToken(number: number): string {
  if (!Number.isFinite(number)) throw usage('NaN and infinity are no values of a column');
  return String(number);
}

export function valueToken(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return textToken(value);
    case 'number':
      return numberToken(value);
    case 'bigint':
      return value.toString();
    case 'boolean':
      return value ? '1' : '0';
    default:
  }
  if (value === null) return NULL_TOKEN;
  if (value instanceof Uint8Array) return bytesToken(value);
  throw usage(`a value cannot be ${describe(value)}`);
}

/** What a value is, without showing it. */
export function describe(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value !== 'object') return value === undefined ? 'undefined' : `a ${typeof value}`;
  if (value instanceof Date) return "a Date, unless its column's type names a time zone: 'datetime.utc' or 'date.utc'";
  if (Array.isArray(value)) return 'an array';
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== 'Object' ? `a ${name}` : 'an object';
}

/** A name in `P`, which is not escaped. */
export function nameToken(name: unknown, what: string, isColumn = false): string {
  if (typeof name !== 'string') throw usage(`${what} is a string, not ${describe(name)}`);
  for (const forbidden of isColumn ? '\t\n\r\0,' : '\t\n\r\0') {
    if (name.includes(forbidden)) throw usage(`${what} cannot hold ${JSON.stringify(forbidden)}: ${JSON.stringify(name)}`);
  }
  return utf8(name, what);
}

/** A number of the protocol itself: from 0 to 2^64-1. */
export function countToken(count: unknown, what: string): string {
  if (typeof count === 'number' ? Number.isSafeInteger(count) && count >= 0 : typeof count === 'bigint' && count >= 0n && count <= MOST) {
    return String(count);
  }
  throw usage(`${what} is a whole number from 0 to 2^64-1`);
}
