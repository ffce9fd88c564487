// What the vectors say about bytes holds for this client.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { columnOf } from '../src/column-types.js';
import { readDescription, typeOf } from '../src/description.js';
import { HandlerSocketError, ReplyError, WrongReply } from '../src/errors.js';
import { LineCutter } from '../src/lines.js';
import { Piece } from '../src/pieces.js';
import { Assignment, assign, assignmentTokens } from '../src/assign.js';
import { range } from '../src/range.js';
import { readError, readExists, readHead, readId, readModified, readOutcomes, readRows } from '../src/replies.js';
import { assignmentsToken, findTail, insertRowsTail, insertTail, logInLine, openTail, secretLine } from '../src/requests.js';
import type { Duplicate, FilterOp, FindOp, ModifyOp } from '../src/requests.js';
import { SERVER_ERRORS } from '../src/server-errors.js';
import { bytesToken, countToken, valueToken } from '../src/tokens.js';
import { bytes, describedOf, raw, vectors } from './vectors.js';
import type { DescribedVector } from './vectors.js';

type Count = number | bigint;
type Text = string | null;

interface FilterVector {
  kind: 'F' | 'W';
  op: FilterOp;
  column: number;
  value: Text;
}

interface AssignmentVector {
  column: number;
  how: string;
  value: Text;
  low?: Text;
  high?: Text;
}

interface RequestVector {
  why: string;
  writes: string[];
  request: {
    open_index?: { id: Count; database: string; table: string; index: string; columns: string[]; filter_columns?: string[] };
    auth?: { secret: string; user?: string };
    find?: {
      id: Count;
      op: FindOp | 'up' | 'down';
      key: Text[];
      lower?: { value: Text; open?: boolean };
      upper?: { value: Text; open?: boolean };
      prefix?: string;
      answer?: 'count' | 'exists';
      limit?: Count;
      offset?: Count;
      in?: { key_part: number; values: Text[] };
      filters?: FilterVector[];
      modify?: { op: ModifyOp; values?: Text[]; assignments?: AssignmentVector[]; rows_before?: boolean; rows_after?: boolean };
    };
    insert?: { id: Count; values: Text[] };
    insert_rows?: {
      id: Count;
      rows: Text[][];
      else?: Duplicate | 'update';
      assignments?: AssignmentVector[];
      filters?: FilterVector[];
    };
  };
}

const tokens = (values: Text[]): string[] => values.map((value) => valueToken(raw(value)));
/** A name, which is text. */
const name = (text: string): string => bytes(text).toString('utf8');

/** Assignments as an application makes them. */
function assignments(all: AssignmentVector[], ofUpsert: boolean): string[] {
  return all.map(({ column, how, value, low, high }) => {
    const given = raw(value);
    const bounds = low === undefined && high === undefined ? undefined : { low: raw(low ?? null), high: raw(high ?? null) };
    const made: Record<string, () => Assignment> = {
      default: assign.default,
      now: assign.now,
      new: assign.inserted,
      '+': () => assign.add(given, bounds),
      '-': () => assign.subtract(given, bounds),
      append: () => assign.append(given),
      prepend: () => assign.prepend(given),
      max: () => assign.max(given),
      min: () => assign.min(given),
      '&': () => assign.bitAnd(given),
      '|': () => assign.bitOr(given),
      '^': () => assign.bitXor(given),
    };
    const assigned = how === '=' ? given : made[how.replace('[', '')]!();
    return `${column}\t${assignmentTokens(assigned, valueToken, ofUpsert)}`;
  });
}

const filtersOf = (all: FilterVector[]) => all.map((filter) => ({ ...filter, value: valueToken(raw(filter.value)) }));

type FindVector = NonNullable<RequestVector['request']['find']>;

function rangeOf({ op, lower, upper, prefix }: FindVector): { down: boolean; ends: string[] } | undefined {
  if (op !== 'up' && op !== 'down') return undefined;
  const made = range({
    ...(lower && { [lower.open === true ? 'gt' : 'ge']: raw(lower.value) }),
    ...(upper && { [upper.open === true ? 'lt' : 'le']: raw(upper.value) }),
    ...(prefix !== undefined && { prefix: raw(prefix) }),
  });
  return { down: op === 'down', ends: made.ends().flatMap(([sign, value]) => [sign, valueToken(value)]) };
}

function modifyOf(modify: NonNullable<FindVector['modify']>): Parameters<typeof findTail>[0]['modify'] {
  const values = modify.op === 'set' ? [assignmentsToken(assignments(modify.assignments!, false))] : tokens(modify.values ?? []);
  return { op: modify.op, values, rows: modify.rows_before === true ? '?' : modify.rows_after === true ? '!' : '' };
}

function lineOf({ request }: RequestVector): string {
  const { open_index: open, auth, find, insert, insert_rows: rows } = request;
  if (open !== undefined) {
    const tail = openTail(
      name(open.database),
      name(open.table),
      name(open.index),
      open.columns.map(name),
      (open.filter_columns ?? []).map(name),
    );
    return `P\t${countToken(open.id, 'id')}${tail}`;
  }
  if (auth !== undefined) {
    return auth.user === undefined ? secretLine(name(auth.secret)) : logInLine(name(auth.user), name(auth.secret));
  }
  if (insert !== undefined) return countToken(insert.id, 'id') + insertTail(tokens(insert.values));
  if (rows !== undefined) {
    const duplicate = rows.else === undefined || rows.else === 'update' ? 'fail' : rows.else;
    const tail = insertRowsTail(rows.rows.map(tokens), duplicate, assignments(rows.assignments ?? [], true), filtersOf(rows.filters ?? []));
    return countToken(rows.id, 'id') + tail;
  }
  const { id, op, key, limit, offset, in: within, filters, modify, answer } = find!;
  const isRange = op === 'up' || op === 'down';
  return (
    countToken(id, 'id') +
    findTail({
      op: isRange ? undefined : op,
      key: tokens(key),
      range: rangeOf(find!),
      limit,
      offset,
      in: within && { part: within.key_part, values: tokens(within.values) },
      ...(filters && { filters: filtersOf(filters) }),
      modify: modify && modifyOf(modify),
      answer: answer === undefined ? undefined : answer === 'count' ? 'C' : 'E',
    })
  );
}

suite('requests.json and new_requests.json', () => {
  for (const vector of [...vectors<RequestVector>('requests'), ...vectors<RequestVector>('new_requests')]) {
    test(vector.why, () => {
      if (vector.writes.length > 0) assert.equal(lineOf(vector), vector.writes[0]);
      else
        assert.throws(
          () => lineOf(vector),
          (error) => error instanceof HandlerSocketError && error.kind === 'usage',
        );
    });
  }
});

interface ValueVector {
  why: string;
  value: Text;
  token: string;
  accepts?: string[];
  error?: object;
}

const BYTES = columnOf('a', 'bytes?');

/** What a token alone in its row is read as. */
function readToken(token: string): unknown {
  const line = `0\t1\t${token}`;
  const [row] = readRows(new Piece(bytes(line)), 3, line.length, 1, { columns: [BYTES], named: false }) as unknown[][];
  return row![0];
}

suite('values.json', () => {
  for (const vector of vectors<ValueVector>('values')) {
    test(vector.why, () => {
      if (vector.error !== undefined) {
        assert.throws(() => readToken(vector.token), WrongReply);
        return;
      }
      assert.equal(vector.value === null ? valueToken(null) : bytesToken(bytes(vector.value)), vector.token);
      for (const token of [vector.token, ...(vector.accepts ?? [])]) assert.deepEqual(readToken(token), raw(vector.value));
    });
  }
});

interface ReplyVector {
  why: string;
  line: string;
  to?:
    'open_index' | 'auth' | 'find' | 'modify' | 'modify_rows_before' | 'modify_rows_after' | 'insert' | 'count' | 'exists' | 'insert_rows';
  columns?: number;
  rows?: Text[][];
  modified?: number;
  id?: Count | null;
  error?: { code: number; text: string };
  no_reply?: boolean;
  needs?: string;
  count?: Count;
  exists?: boolean;
  outcomes?: [string, Count | null][];
  asked?: number;
}

function readReply({ line, to = 'find', columns, outcomes, asked }: ReplyVector): unknown {
  const end = line.length - 1;
  const piece = new Piece(bytes(line));
  const head = readHead(piece, 0, end);
  if (head.code !== 0) {
    const { code, text } = readError(piece, head, end);
    return { code, text };
  }
  if (to === 'exists') return readExists(piece, head.values, end);
  if (to === 'insert_rows') return readOutcomes(piece, head.values, end, head.count, outcomes?.length ?? asked!);
  if (to === 'modify' || to === 'count') return readModified(piece, head.values, end);
  if (to === 'insert') return readId(piece, head.values, end);
  if (to === 'open_index' || to === 'auth') return undefined;
  return readRows(piece, head.values, end, head.count, { columns: Array(columns ?? head.count).fill(BYTES), named: false });
}

suite('replies.json and new_replies.json', () => {
  for (const [i, vector] of [...vectors<ReplyVector>('replies'), ...vectors<ReplyVector>('new_replies')].entries()) {
    // No table has so many rows that a number cannot count them.
    if (typeof vector.count === 'bigint') continue;
    test(`${i}: ${vector.why}`, () => {
      if (vector.no_reply === true) {
        assert.throws(() => readReply(vector), WrongReply);
        return;
      }
      const meaning = readReply(vector);
      if (vector.error !== undefined) assert.deepEqual(meaning, vector.error);
      else if (vector.rows !== undefined)
        assert.deepEqual(
          meaning,
          vector.rows.map((row) => row.map(raw)),
        );
      else if (vector.id !== undefined) assert.equal(meaning, vector.id === null ? null : BigInt(vector.id));
      else if (vector.outcomes !== undefined)
        assert.deepEqual(
          meaning,
          vector.outcomes.map(([done, id]) => ({ done, id: id === null ? null : BigInt(id) })),
        );
      else assert.equal(meaning, vector.modified ?? vector.count ?? vector.exists);
    });
  }
});

interface DescriptionVector {
  why: string;
  line: string;
  columns: string[] | null;
  filter_columns: string[];
  described?: DescribedVector;
  error?: { code: number; text: string };
  no_reply?: boolean;
}

const nameOf = (text: string): string => bytes(text).toString('utf8');

suite('descriptions.json', () => {
  for (const { why, line, columns, filter_columns, ...vector } of vectors<DescriptionVector>('descriptions')) {
    test(why, () => {
      const names = columns?.map(nameOf);
      // One of the vectors is a name that no request can hold.
      const definition = {
        database: 'db',
        table: 't',
        index: 'PRIMARY',
        columns: names,
        filterColumns: filter_columns.map(nameOf),
        words: '',
      };
      const read = () => {
        const piece = new Piece(bytes(line));
        const end = line.length - 1;
        const head = readHead(piece, 0, end);
        if (head.code !== 0) return readError(piece, head, end);
        return describedOf(readDescription(piece, head, end, definition));
      };
      if (vector.no_reply === true) assert.throws(read, WrongReply);
      else if (vector.error === undefined) assert.deepEqual(read(), vector.described);
      else assert.deepEqual(read(), { ...vector.error, told: undefined, behind: undefined });
    });
  }
});

suite('types.json', () => {
  const types: Record<string, string[]> = {
    integer: ['integer', 'bigint'],
    decimal: ['decimal'],
    float: ['double'],
    text: ['string'],
    bytes: ['bytes'],
    date: ['date'],
    moment: ['datetime'],
    time: ['time'],
    uuid: ['uuid'],
  };
  for (const { type, charset, is } of vectors<{ type: string | null; charset: string | null; is: string }>('types')) {
    test(String(type), () => {
      const of = (nullable: boolean | null): string => typeOf({ type, charset, nullable, unsigned: false, decimals: 0 });
      assert.ok(types[is]!.includes(of(false)), of(false));
      assert.equal(of(true), `${of(false)}?`);
      assert.equal(of(null), of(true));
      if (is === 'integer') assert.equal(of(false), type!.startsWith('bigint') ? 'bigint' : 'integer');
    });
  }
});

interface StreamVector {
  why: string;
  stream: string;
  lines: string[];
  rest: string;
}

function cut(cutter: LineCutter, pieces: Buffer[], onlyOne: boolean): string {
  let lines = '';
  for (const piece of pieces) {
    for (let rest = piece; rest.length > 0;)
      rest = rest.subarray(cutter.take(rest, onlyOne, (found) => (lines += found.toString('latin1'))));
  }
  return lines;
}

suite('streams.json', () => {
  for (const vector of vectors<StreamVector>('streams')) {
    test(vector.why, () => {
      const stream = bytes(vector.stream);
      for (const onlyOne of [false, true]) {
        for (let i = 0; i <= stream.length; i++) {
          for (let j = i; j <= stream.length; j++) {
            const cutter = new LineCutter();
            const pieces = [stream.subarray(0, i), stream.subarray(i, j), stream.subarray(j)];
            assert.equal(cut(cutter, pieces, onlyOne), vector.lines.join(''));
            assert.equal(cutter.held, vector.rest.length);
          }
        }
      }
    });
  }
});

suite('errors.json', () => {
  interface ErrorVector {
    code: number;
    text: string;
    name: string;
    kind: string;
    retry: string;
    words: string;
    sqlstate: string | null;
    maybe_executed?: boolean;
  }
  const known = vectors<ErrorVector>('errors');

  test('the table of this client is the same', () => {
    const expected = known.map(({ sqlstate, maybe_executed, ...others }) => ({
      ...others,
      sqlState: sqlstate,
      maybeExecuted: maybe_executed ?? false,
    }));
    assert.deepEqual([...SERVER_ERRORS.values()], expected);
  });

  for (const vector of known) {
    test(`${vector.code} ${vector.text}`, () => {
      const error = new ReplyError('reply', vector.code, vector.text, true);
      assert.deepEqual(
        [error.reason, error.errorName, error.retry, error.sqlState, error.maybeExecuted, error.safeToRetry, error.sent],
        [vector.kind, vector.name, vector.retry, vector.sqlstate, vector.maybe_executed ?? false, vector.maybe_executed !== true, true],
      );
      assert.equal(error.number, /^\d+$/.test(vector.text) ? Number(vector.text) : null);
      assert.ok(error.message.includes(vector.words));
      assert.equal(new ReplyError('reply', vector.code, vector.text, false).maybeExecuted, false);
    });
  }

  test('an error that is not in the file', () => {
    const reasons = [1, 2, 3, 9].map((code) => new ReplyError('reply', code, 'new', true).reason);
    assert.deepEqual(reasons, ['server', 'request', 'log_in', 'server']);
  });
});
