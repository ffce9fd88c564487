// The types of columns: what is read from which text, what is written, and what is refused.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { columnOf } from '../src/column-types.js';
import type { ColumnType } from '../src/column-types.js';
import { HandlerSocketError, WrongValue } from '../src/errors.js';
import { Piece } from '../src/pieces.js';
import { readRows } from '../src/replies.js';
import { NULL_TOKEN } from '../src/tokens.js';

function read(type: ColumnType, token: Buffer | string): unknown {
  const bytes = Buffer.concat([Buffer.from('0\t1\t'), typeof token === 'string' ? Buffer.from(token) : token]);
  const [row] = readRows(new Piece(bytes), 3, bytes.length, 1, { columns: [columnOf('a', type)], named: true }) as { a: unknown }[];
  return row!.a;
}

const READ: [ColumnType, string, unknown][] = [
  ['string', 'x', 'x'],
  ['string', 'größer als dreizehn Zeichen', 'größer als dreizehn Zeichen'],
  ['string', 'é', 'é'],
  ['string', '\ufffd', '\ufffd'],
  ['string?', '\0', null],
  ['number', '0', 0],
  ['number', '-0', 0],
  ['number', '00042', 42],
  ['number', '-17', -17],
  ['number', '9007199254740991', Number.MAX_SAFE_INTEGER],
  ['number', '-9007199254740991', Number.MIN_SAFE_INTEGER],
  ['number', '12.5', 12.5],
  ['number', '-1.5e-7', -1.5e-7],
  ['double', '1e300', 1e300],
  ['double', '18446744073709551616', 18446744073709551616],
  ['bigint', '7', 7n],
  ['bigint', '18446744073709551615', 18446744073709551615n],
  ['bigint', '-9223372036854775808', -9223372036854775808n],
  ['decimal', '12345678901234567890.1234567890', '12345678901234567890.1234567890'],
  ['boolean', '0', false],
  ['boolean', '1', true],
  ['boolean', '\x01A', true],
  ['boolean', '\x01@', false],
  ['json', '{"a":[1,"é"]}', { a: [1, 'é'] }],
  ['json', 'null', null],
  ['date', '2024-02-29', '2024-02-29'],
  ['date.utc', '2024-02-29', new Date('2024-02-29T00:00:00Z')],
  ['datetime', '2024-02-29 12:30:00.123456', '2024-02-29 12:30:00.123456'],
  ['datetime.utc', '2024-02-29 12:30:00', new Date('2024-02-29T12:30:00Z')],
  ['datetime.utc', '2024-02-29 12:30:00.5', new Date('2024-02-29T12:30:00.500Z')],
  ['datetime.utc', '0001-01-01 00:00:00.123000', new Date('0001-01-01T00:00:00.123Z')],
  ['time', '12:30:00', 45_000_000],
  ['time', '-838:59:59.999999', -3_020_399_999.999],
  ['time', '-00:00:00.000001', -0.001],
  ['time', '00:00:00', 0],
  ['uuid', '123e4567-e89b-12d3-a456-426614174000', '123e4567-e89b-12d3-a456-426614174000'],
  [{ read: (bytes) => bytes?.toString('hex') ?? 'none' }, 'AB', '4142'],
  [{ read: (bytes) => bytes?.toString('hex') ?? 'none' }, '\0', 'none'],
];

const REFUSED: [ColumnType, string | Buffer][] = [
  ['string', '\0'],
  ['string', Buffer.from([0x41, 0xff])],
  ['string', Buffer.from('a long text with a wrong byte \xff', 'latin1')],
  ['number', ''],
  ['number', 'x'],
  ['number', '-'],
  ['number', '1 '],
  ['number', '0x10'],
  ['number', 'Infinity'],
  ['number', '9007199254740992'],
  ['number', '\u00b2'],
  ['double', '1e400'],
  ['double', 'NaN'],
  ['bigint', ''],
  ['bigint', '1.0'],
  ['bigint', ' 1'],
  ['decimal', '1e5'],
  ['boolean', '2'],
  ['boolean', ''],
  ['json', '{'],
  ['date', '0000-00-00'],
  ['date', '2024-00-10'],
  ['date', '2023-02-29'],
  ['date', '2024-02-29 00:00:00'],
  ['datetime', '0000-00-00 00:00:00'],
  ['datetime', '2024-02-29'],
  ['datetime.utc', '2024-02-29 12:30:00.123456'],
  ['date.utc', '0000-00-00'],
  ['time', '12:30'],
  ['uuid', 'x'],
  [{ read: () => assert.fail('a secret') }, 'x'],
];

suite('what is read', () => {
  for (const [type, token, value] of READ) {
    test(`${typeof type === 'string' ? type : 'a type of ones own'}: ${JSON.stringify(token)}`, () =>
      assert.deepEqual(read(type, token), value));
  }

  test('bytes are a copy', () => assert.deepEqual(read('bytes', Buffer.from([0x80, 0xff])), Buffer.from([0x80, 0xff])));

  for (const [type, token] of REFUSED) {
    test(`refused: ${typeof type === 'string' ? type : 'a type of ones own'}: ${JSON.stringify(token.toString('latin1'))}`, () => {
      assert.throws(
        () => read(type, token),
        (error) => {
          assert.ok(error instanceof WrongValue);
          assert.match(error.message, /^the column "a"/);
          // What is in a row is nobody's business.
          assert.doesNotMatch(error.message, /secret|wrong byte|0x10/);
          return true;
        },
      );
    });
  }
});

const WRITTEN: [ColumnType, unknown, string][] = [
  ['string', null, NULL_TOKEN],
  ['string', 'x', 'x'],
  ['string', '', ''],
  ['string', 'é\t', '\xc3\xa9\x01I'],
  ['string', true, '1'],
  ['string', false, '0'],
  ['string', 42, '42'],
  ['string', -0, '0'],
  ['string', 0.1, '0.1'],
  ['string', 1e-7, '1e-7'],
  ['string', 2n ** 64n - 1n, '18446744073709551615'],
  ['string', Buffer.from([0, 0x80]), '\x01@\x80'],
  ['string', new Uint8Array([1, 2, 3]).subarray(1), '\x01B\x01C'],
  ['double', 2 ** 60, '1152921504606847000'],
  ['json', { a: 'é' }, '{"a":"\xc3\xa9"}'],
  ['json', 'x', '"x"'],
  ['json', null, NULL_TOKEN],
  ['date.utc', new Date('2024-02-29T23:00:00Z'), '2024-02-29'],
  ['datetime.utc', new Date('2024-02-29T12:30:00.500Z'), '2024-02-29 12:30:00.500'],
  ['datetime.utc', '2024-02-29', '2024-02-29'],
  ['time', -45_000_000, '-12:30:00'],
  ['time', 3_020_399_999.999, '838:59:59.999999'],
  ['time', -0.0001, '00:00:00'],
  ['time', '12:00', '12:00'],
  [{ read: () => '', write: (value: string) => value.toUpperCase() }, 'x', 'X'],
  [{ read: () => '' }, 'x', 'x'],
];

suite('what is written', () => {
  for (const [type, value, token] of WRITTEN) {
    test(`${typeof type === 'string' ? type : 'a type of ones own'}: ${JSON.stringify(token)}`, () =>
      assert.equal(columnOf('a', type).write(value), token));
  }

  const refused: [ColumnType, unknown][] = [
    ['string', undefined],
    ['string', NaN],
    ['string', -Infinity],
    ['string', 2 ** 53],
    ['string', {}],
    ['string', [1]],
    ['string', new Date()],
    ['string', Symbol('x')],
    ['string', () => 1],
    ['string', 'half a pair \ud83d'],
    ['string', new Uint16Array(1)],
    ['double', NaN],
    ['json', undefined],
    ['json', () => 1],
    ['time', NaN],
    ['datetime.utc', new Date(NaN)],
    ['datetime.utc', new Date('+012024-01-01T00:00:00Z')],
  ];
  for (const [type, value] of refused) {
    test(`refused: ${String(type)}: ${typeof value} ${String(typeof value === 'object' ? JSON.stringify(value) : value)}`, () => {
      assert.throws(
        () => columnOf('a', type).write(value),
        (error) => error instanceof HandlerSocketError && error.kind === 'usage' && !error.sent && error.safeToRetry,
      );
    });
  }

  test('what is written is read again', () => {
    for (const milliseconds of [0, 1, -1.001, 86_400_000.123, -3_020_399_999.999]) {
      assert.equal(read('time', columnOf('a', 'time').write(milliseconds)), milliseconds);
    }
    for (const number of [0, -1.5, 1e300, 5e-324, 0.1]) assert.equal(read('double', columnOf('a', 'double').write(number)), number);
  });

  test('an unknown type', () => {
    for (const type of ['text', 'toString', '?', '', 7, null, {}]) {
      assert.throws(() => columnOf('a', type as ColumnType), /unknown type/);
    }
  });
});
