// Requests as lines. A request begins with the number that its index has on the connection, so what is made here is the
// rest of the line, and the connection puts the number in front when it sends it.
import { usage } from './errors.js';
import { countToken, describe, nameToken, textToken } from './tokens.js';

export type FindOp = '=' | '>' | '>=' | '<' | '<=';
export type FilterOp = FindOp | '!=';
export type ModifyOp = 'U' | 'D' | '+' | '-' | 'set' | 'lock';
/** Which rows a modification answers: none, those before (`?`), or those afterwards (`!`). */
export type Answered = '' | '?' | '!';
/** What is done about a row that is there already. */
export type Duplicate = 'fail' | 'ignore' | 'replace';

const FIND_OPS: ReadonlySet<unknown> = new Set(['=', '>', '>=', '<', '<=']);
const DUPLICATES: ReadonlySet<unknown> = new Set(['fail', 'ignore', 'replace']);
const FILTER_OPS: ReadonlySet<unknown> = new Set(['=', '!=', '>', '>=', '<', '<=']);

export interface FilterTokens {
  readonly kind: 'F' | 'W';
  readonly op: FilterOp;
  readonly column: number;
  readonly value: string;
}

/** A request as the protocol has it. Values are tokens already. */
export interface Find {
  readonly op?: FindOp | undefined;
  readonly key: readonly string[];
  /** Then there is no operator. The ends are operators and their values. */
  readonly range?: { readonly down: boolean; readonly ends: readonly string[] } | undefined;
  readonly limit?: number | bigint | undefined;
  readonly offset?: number | bigint | undefined;
  readonly in?: { readonly part: number; readonly values: readonly string[] } | undefined;
  readonly filters?: readonly FilterTokens[];
  readonly modify?: { readonly op: ModifyOp; readonly values: readonly string[]; readonly rows: Answered } | undefined;
  /** The number of the rows in place of them, or whether there is one. */
  readonly answer?: 'C' | 'E' | undefined;
}

/** The line of `P` behind its number. */
export function openTail(
  database: string,
  table: string,
  index: string,
  columns: readonly string[],
  filterColumns: readonly string[],
): string {
  if (database === '') throw usage('an index needs the name of its database: the index has none, and the client neither');
  if (table === '') throw usage('an index needs the name of its table');
  const tokens = [
    nameToken(database, "a database's name"),
    nameToken(table, "a table's name"),
    nameToken(index, "an index's name"),
    columnNames(columns),
  ];
  if (filterColumns.length > 0) tokens.push(columnNames(filterColumns));
  return `\t${tokens.join('\t')}\n`;
}

function columnNames(columns: readonly string[]): string {
  return columns.map((column) => nameToken(column, "a column's name", true)).join(',');
}

export function findTail(find: Find): string {
  const key = keyOf(find);
  const end = find.answer === undefined ? '\n' : `\t${find.answer}\n`;
  const clauses = find.in !== undefined || find.filters !== undefined || find.modify !== undefined ? clausesOf(find) : '';
  if (find.limit === undefined && find.offset === undefined && clauses === '') return key + end;
  // What the server takes if there is none.
  const usual = find.answer === 'C' ? '0' : '1';
  const limit = find.limit === undefined ? usual : limitToken(find.limit);
  const offset = find.offset === undefined ? '0' : countToken(find.offset, 'an offset');
  if (clauses !== '' || offset !== '0') return `${key}\t${limit}\t${offset}${clauses}${end}`;
  return limit === usual ? key + end : `${key}\t${limit}${end}`;
}

export function limitToken(limit: number | bigint): string {
  const token = countToken(limit, 'a limit');
  // The server would take it for the usual one.
  if (token === '0') throw usage('a limit is at least 1');
  return token;
}

function keyOf({ op, key, range }: Find): string {
  const values = key.length === 1 ? key[0] : key.join('\t');
  if (range !== undefined) {
    if (op !== undefined) throw usage('a range has no operator: its ends say the same');
    return ['', range.down ? 'down' : 'up', key.length, ...key, ...range.ends].join('\t');
  }
  if (op !== undefined && !FIND_OPS.has(op)) throw usage(`the operator of a find is one of = > >= < <=, not ${shown(op)}`);
  if (key.length === 0) throw usage('a key has at least one value');
  return `\t${op ?? '='}\t${key.length}\t${values}`;
}

function clausesOf(find: Find): string {
  let clauses = '';
  if (find.in !== undefined) {
    const { part, values } = find.in;
    clauses += `\t@\t${countToken(part, 'a part of the key')}\t${values.length}\t${values.join('\t')}`;
  }
  clauses += filterTokens(find.filters ?? []);
  if (find.modify !== undefined) {
    const { op, values, rows } = find.modify;
    clauses += `\t${op}${rows}`;
    for (const value of values) clauses += `\t${value}`;
  }
  return clauses;
}

function filterTokens(filters: readonly FilterTokens[]): string {
  let tokens = '';
  for (const { kind, op, column, value } of filters) {
    if (!FILTER_OPS.has(op)) throw usage(`the operator of a filter is one of = != > >= < <=, not ${shown(op)}`);
    tokens += `\t${kind}\t${op}\t${countToken(column, "a filter's column")}\t${value}`;
  }
  return tokens;
}

/** Several rows; of an upsert, `changes` has the tokens of its assignments. */
export function insertRowsTail(
  rows: readonly (readonly string[])[],
  duplicate: Duplicate,
  changes: readonly string[] = [],
  filters: readonly FilterTokens[] = [],
): string {
  const width = rows[0]?.length ?? 0;
  if (width === 0) throw usage('an insert has at least one row with one value');
  if (rows.some((row) => row.length !== width)) throw usage('the rows of an insert have as many values each');
  if (!DUPLICATES.has(duplicate)) throw usage(`what is done about a duplicate is 'fail', 'ignore' or 'replace', not ${shown(duplicate)}`);
  const values = rows.map((row) => row.join('\t')).join('\t');
  let tail = `\tinsert\t${rows.length}\t${width}\t${values}`;
  if (changes.length > 0) tail += `\telse\tupdate\t${assignmentsToken(changes)}${filterTokens(filters)}`;
  else if (duplicate !== 'fail') tail += `\telse\t${duplicate}`;
  return `${tail}\n`;
}

/** Assignments behind their number. */
export function assignmentsToken(assignments: readonly string[]): string {
  return `${assignments.length}\t${assignments.join('\t')}`;
}

export function insertTail(values: readonly string[]): string {
  if (values.length === 0) throw usage('an insert has at least one value');
  return `\t+\t${values.length}\t${values.join('\t')}\n`;
}

const LONGEST_WITHIN = 2 ** 31;

/** The time that the server may take, in front of a request. */
export function withinFront(milliseconds: unknown): string {
  if (typeof milliseconds !== 'number' || !(milliseconds >= 1 && milliseconds <= LONGEST_WITHIN)) {
    throw usage(`within is a number of milliseconds from 1 to ${LONGEST_WITHIN}`);
  }
  return `within\t${Math.round(milliseconds)}\t`;
}

/** `H`. Options that are not named are turned off. */
export function helloLine(texts: boolean): string {
  return texts ? 'H\ttexts\n' : 'H\n';
}

/** `L` with nothing behind it, a database, or a database and a table. Names are not escaped. */
export function listLine(...names: readonly [] | readonly [database: string] | readonly [database: string, table: string]): string {
  let line = 'L';
  for (const [i, name] of names.entries()) {
    const what = i === 0 ? 'database' : 'table';
    if (name === '') throw usage(`a list needs the name of its ${what}`);
    line += `\t${nameToken(name, `a ${what}'s name`)}`;
  }
  return `${line}\n`;
}

export function secretLine(secret: string): string {
  return `A\t1\t${logInToken(secret, 'a secret')}\n`;
}

export function logInLine(user: string, password: string): string {
  return `A\t2\t${logInToken(user, 'a user')}\t${logInToken(password, 'a password')}\n`;
}

function logInToken(text: unknown, what: string): string {
  if (typeof text !== 'string') throw usage(`${what} is a string, not ${describe(text)}`);
  return textToken(text);
}

function shown(op: unknown): string {
  return typeof op === 'string' ? JSON.stringify(op) : describe(op);
}
