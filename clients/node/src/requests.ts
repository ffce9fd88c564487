// Requests as lines. A request begins with the number that its index has on the connection, so what is made here is the
// rest of the line, and the connection puts the number in front when it sends it.
import { usage } from './errors.js';
import { countToken, describe, nameToken, textToken } from './tokens.js';

export type FindOp = '=' | '>' | '>=' | '<' | '<=';
export type FilterOp = FindOp | '!=';
export type ModifyOp = 'U' | 'D' | '+' | '-';

const FIND_OPS: ReadonlySet<unknown> = new Set(['=', '>', '>=', '<', '<=']);
const FILTER_OPS: ReadonlySet<unknown> = new Set(['=', '!=', '>', '>=', '<', '<=']);

/** A request as the protocol has it. Values are tokens already. */
export interface Find {
  readonly op?: FindOp | undefined;
  readonly key: readonly string[];
  readonly limit?: number | bigint | undefined;
  readonly offset?: number | bigint | undefined;
  readonly in?: { readonly part: number; readonly values: readonly string[] } | undefined;
  readonly filters?: readonly { readonly kind: 'F' | 'W'; readonly op: FilterOp; readonly column: number; readonly value: string }[];
  readonly modify?: { readonly op: ModifyOp; readonly values: readonly string[]; readonly rowsBefore: boolean } | undefined;
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
  const op = find.op === undefined ? '=' : find.op;
  if (!FIND_OPS.has(op)) throw usage(`the operator of a find is one of = > >= < <=, not ${shown(op)}`);
  if (find.key.length === 0) throw usage('a key has at least one value');
  const key = `\t${op}\t${find.key.length}\t${find.key.length === 1 ? find.key[0] : find.key.join('\t')}`;
  const clauses = find.in !== undefined || find.filters !== undefined || find.modify !== undefined ? clausesOf(find) : '';
  if (find.limit === undefined && find.offset === undefined && clauses === '') return `${key}\n`;
  const limit = find.limit === undefined ? '1' : countToken(find.limit, 'a limit');
  // The server would take it for 1.
  if (limit === '0') throw usage('a limit is at least 1');
  const offset = find.offset === undefined ? '0' : countToken(find.offset, 'an offset');
  if (clauses !== '' || offset !== '0') return `${key}\t${limit}\t${offset}${clauses}\n`;
  return limit === '1' ? `${key}\n` : `${key}\t${limit}\n`;
}

function clausesOf(find: Find): string {
  let clauses = '';
  if (find.in !== undefined) {
    const { part, values } = find.in;
    clauses += `\t@\t${countToken(part, 'a part of the key')}\t${values.length}\t${values.join('\t')}`;
  }
  for (const { kind, op, column, value } of find.filters ?? []) {
    if (!FILTER_OPS.has(op)) throw usage(`the operator of a filter is one of = != > >= < <=, not ${shown(op)}`);
    clauses += `\t${kind}\t${op}\t${countToken(column, "a filter's column")}\t${value}`;
  }
  if (find.modify !== undefined) {
    const { op, values, rowsBefore } = find.modify;
    clauses += `\t${op}${rowsBefore ? '?' : ''}`;
    for (const value of values) clauses += `\t${value}`;
  }
  return clauses;
}

export function insertTail(values: readonly string[]): string {
  if (values.length === 0) throw usage('an insert has at least one value');
  return `\t+\t${values.length}\t${values.join('\t')}\n`;
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
