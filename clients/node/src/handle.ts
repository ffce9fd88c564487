// An index as an application uses it: it turns keys, values and names into a request, and runs it. It holds no connection.
import { Assignment, assignmentTokens } from './assign.js';
import type {
  Changes,
  CountOptions,
  Filter,
  FindInOptions,
  FindOptions,
  InsertManyOptions,
  Key,
  KeyValues,
  NewValues,
  RowValues,
  UpsertOptions,
} from './call-types.js';
import { columnOf } from './column-types.js';
import type { Column, ColumnType } from './column-types.js';
import type { Core, Executor, RequestOptions } from './core.js';
import type { Definition } from './definition.js';
import { usage } from './errors.js';
import { RowIterator } from './iterate.js';
import { Range } from './range.js';
import type { Answered, FilterOp, FilterTokens, Find, ModifyOp } from './requests.js';
import { assignmentsToken, findTail, insertRowsTail, insertTail, limitToken } from './requests.js';
import type { Outcome, Shape } from './replies.js';
import { Kind, Reads, Slot } from './slot.js';
import { describe, valueToken } from './tokens.js';
import type { Value } from './tokens.js';

/** What the handles of one index share. */
export interface IndexState extends Front {
  readonly core: Core;
  readonly columns: ReadonlyMap<string, Column>;
  readonly filters: readonly Column[];
  readonly parts: readonly Column[];
  /** The same index with other columns, by their names. */
  readonly fronts: Map<string, Front>;
}

interface Front {
  readonly definition: Definition;
  readonly shape: Shape;
  readonly kinds: Kinds;
}

/** By the operation and how its reply is read. */
type Kinds = Partial<Record<string, Kind>>[];

type Object_ = Readonly<Record<string, unknown>>;

/** What is asked in place of the rows, or done with them. */
type Asked = Pick<Find, 'modify' | 'answer'>;

const NOTHING_ELSE: Asked = {};
const READING: ReadonlySet<string> = new Set(['find', 'find one', 'count', 'exists']);

function isNamed(value: unknown): value is Object_ {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array) && !(value instanceof Date);
}

export class Index<Row = unknown, Named = Row, FilterColumn extends string = string, Part extends string = string> {
  readonly #state: IndexState;
  readonly #executor: Executor;

  /** @internal */
  constructor(state: IndexState, executor: Executor) {
    this.#state = state;
    this.#executor = executor;
  }

  /** @internal The same index, run by something else. */
  static with<I>(index: I, executor: Executor): I {
    if (!(index instanceof Index)) throw usage('a pipeline is for an index of this package');
    // Connections know an index by its definition, of which each client has its own.
    if (index.#state.core !== executor.core) throw usage('the index belongs to another client');
    return new Index(index.#state, executor) as I;
  }

  get database(): string {
    return this.#state.definition.database;
  }

  get table(): string {
    return this.#state.definition.table;
  }

  get columns(): readonly string[] {
    return this.#state.shape.columns.map(({ name }) => name);
  }

  /** The rows with this key, at most `limit`, which is 1 by default. */
  find(key: Key<Part>, options?: FindOptions<FilterColumn, Part>): Promise<Row[]> {
    return this.#find(key, options, false) as Promise<Row[]>;
  }

  /** The first row, or null. */
  findOne(key: Key<Part>, options?: Omit<FindOptions<FilterColumn, Part>, 'limit'>): Promise<Row | null> {
    return this.#find(key, options, true) as Promise<Row | null>;
  }

  /** The rows of many keys in one request; by default as many rows as values. */
  findIn(values: readonly (Value | Date)[], options: FindInOptions<FilterColumn, Part> = {}): Promise<Row[]> {
    const { key, part, limit = Math.max(1, values.length), ...others } = options;
    const inValues = { values, ...(part === undefined ? {} : { part }) };
    return this.find(key ?? [], { ...others, limit, in: inValues });
  }

  /** The rows one by one, while they arrive. The time-out is for the wait for the next ones. */
  iterate(key: Key<Part>, options: FindOptions<FilterColumn, Part> = {}): AsyncIterableIterator<Row> {
    const { core, shape } = this.#state;
    if (this.#executor !== core) throw usage('a pipeline cannot iterate');
    const slot = new Slot(this.#kind('find', Reads.Stream, this.#state), this.#tail(key, options, NOTHING_ELSE));
    const rows = new RowIterator<Row>(core, slot, options, shape);
    // It has ended before it began.
    if (isEmptyIn(options)) void rows.return();
    return rows;
  }

  /** How many rows there are. Without a limit it counts all of them, over the connection for long finds. */
  count(key: Key<Part>, options?: CountOptions<FilterColumn, Part>): Promise<number> {
    return this.#answer('count', Reads.Modified, 'C', 0, key, options) as Promise<number>;
  }

  /** Whether there is a row. */
  exists(key: Key<Part>, options?: Omit<FindOptions<FilterColumn, Part>, 'limit'>): Promise<boolean> {
    return this.#answer('exists', Reads.Exists, 'E', false, key, options) as Promise<boolean>;
  }

  /** Inserts a row, and gives the value of its AUTO_INCREMENT column, or null. */
  insert(values: RowValues<Named>, options?: RequestOptions): Promise<bigint | null> {
    try {
      const { tokens, front } = this.#values(values, 'insert', false);
      const slot = new Slot(this.#kind('insert', Reads.Id, front), insertTail(tokens));
      return this.#executor.run(slot, options) as Promise<bigint | null>;
    } catch (error) {
      return this.#gave(Promise.reject(error as Error));
    }
  }

  /** Inserts several rows, all of them or none, and says what was done of each. */
  insertMany(rows: readonly RowValues<Named>[], options?: InsertManyOptions): Promise<Outcome[]> {
    return this.#insertRows('insert', rows, undefined, options) as Promise<Outcome[]>;
  }

  /** Inserts a row, or makes the changes of the one that is there, if that meets the filters. */
  upsert(row: RowValues<Named>, changes: Changes<Named>, options?: UpsertOptions<FilterColumn>): Promise<Outcome> {
    return this.#insertRows('upsert one', [row], changes, options) as Promise<Outcome>;
  }

  /** The same with several rows: all of it is done or nothing. */
  upsertMany(rows: readonly RowValues<Named>[], changes: Changes<Named>, options?: UpsertOptions<FilterColumn>): Promise<Outcome[]> {
    return this.#insertRows('upsert', rows, changes, options) as Promise<Outcome[]>;
  }

  /** Sets columns of the rows that are found, or makes of them what `assign` says, and gives the number of rows. */
  update(key: Key<Part>, values: NewValues<Named>, options?: FindOptions<FilterColumn, Part>): Promise<number> {
    return this.#modify('update', 'U', key, values, options, '') as Promise<number>;
  }

  delete(key: Key<Part>, options?: FindOptions<FilterColumn, Part>): Promise<number> {
    return this.#modify('delete', 'D', key, [], options, '') as Promise<number>;
  }

  /** Adds to columns. A column that is NULL stays so. */
  increment(key: Key<Part>, values: RowValues<Named>, options?: FindOptions<FilterColumn, Part>): Promise<number> {
    return this.#modify('increment', '+', key, values, options, '') as Promise<number>;
  }

  /** Subtracts from columns. A row of which a value would cross zero is left as it is, and does not count. */
  decrement(key: Key<Part>, values: RowValues<Named>, options?: FindOptions<FilterColumn, Part>): Promise<number> {
    return this.#modify('decrement', '-', key, values, options, '') as Promise<number>;
  }

  /** In a group: keeps the rows as they are until it has ended, and gives their number. */
  lock(key: Key<Part>, options?: FindOptions<FilterColumn, Part>): Promise<number> {
    return this.#modify('lock', 'lock', key, [], options, '') as Promise<number>;
  }

  /** The same, and gives the rows. A find in a group takes no lock. */
  fetchAndLock(key: Key<Part>, options?: FindOptions<FilterColumn, Part>): Promise<Row[]> {
    return this.#modify('lock', 'lock', key, [], options, '?') as Promise<Row[]>;
  }

  /** The rows as they were before the update. */
  fetchAndUpdate(key: Key<Part>, values: NewValues<Named>, options?: FindOptions<FilterColumn, Part>): Promise<Row[]> {
    return this.#modify('update', 'U', key, values, options, '?') as Promise<Row[]>;
  }

  fetchAndDelete(key: Key<Part>, options?: FindOptions<FilterColumn, Part>): Promise<Row[]> {
    return this.#modify('delete', 'D', key, [], options, '?') as Promise<Row[]>;
  }

  fetchAndIncrement(key: Key<Part>, values: RowValues<Named>, options?: FindOptions<FilterColumn, Part>): Promise<Row[]> {
    return this.#modify('increment', '+', key, values, options, '?') as Promise<Row[]>;
  }

  fetchAndDecrement(key: Key<Part>, values: RowValues<Named>, options?: FindOptions<FilterColumn, Part>): Promise<Row[]> {
    return this.#modify('decrement', '-', key, values, options, '?') as Promise<Row[]>;
  }

  /** The rows as they are after the update. */
  updateAndFetch(key: Key<Part>, values: NewValues<Named>, options?: FindOptions<FilterColumn, Part>): Promise<Row[]> {
    return this.#modify('update', 'U', key, values, options, '!') as Promise<Row[]>;
  }

  incrementAndFetch(key: Key<Part>, values: RowValues<Named>, options?: FindOptions<FilterColumn, Part>): Promise<Row[]> {
    return this.#modify('increment', '+', key, values, options, '!') as Promise<Row[]>;
  }

  decrementAndFetch(key: Key<Part>, values: RowValues<Named>, options?: FindOptions<FilterColumn, Part>): Promise<Row[]> {
    return this.#modify('decrement', '-', key, values, options, '!') as Promise<Row[]>;
  }

  #find(key: Key<Part>, options: FindOptions<FilterColumn, Part> | undefined, one: boolean): Promise<unknown> {
    try {
      const state = this.#state;
      if (isEmptyIn(options)) return this.#gave(Promise.resolve(one ? null : []));
      const slot = new Slot(this.#kind(one ? 'find one' : 'find', Reads.Rows, state), this.#tail(key, options, NOTHING_ELSE, one));
      if (options !== undefined)
        slot.long = options.long ?? (options.limit !== undefined && options.limit >= state.core.settings.longLimit);
      return this.#executor.run(slot, options);
    } catch (error) {
      return this.#gave(Promise.reject(error as Error));
    }
  }

  #answer(
    operation: string,
    reads: Reads,
    answer: 'C' | 'E',
    none: unknown,
    key: Key<Part>,
    options: FindOptions<FilterColumn, Part> | undefined,
  ): Promise<unknown> {
    try {
      const state = this.#state;
      if (answer === 'E' && options?.limit !== undefined) throw usage('exists has no limit: one row is enough');
      if (isEmptyIn(options)) return this.#gave(Promise.resolve(none));
      const slot = new Slot(this.#kind(operation, reads, state), this.#tail(key, options ?? {}, { answer }));
      const limit = options?.limit ?? (answer === 'C' ? Infinity : 1);
      slot.long = options?.long ?? limit >= state.core.settings.longLimit;
      return this.#executor.run(slot, options);
    } catch (error) {
      return this.#gave(Promise.reject(error as Error));
    }
  }

  #gave<T>(promise: Promise<T>): Promise<T> {
    this.#executor.gave?.(promise);
    return promise;
  }

  #kind(operation: string, reads: Reads, { definition, shape, kinds }: Front): Kind {
    const known = (kinds[reads] ??= {});
    const [name, one] = operation.split(' ');
    return (known[operation] ??= new Kind(
      name!,
      definition,
      reads,
      !READING.has(operation),
      shape,
      one !== undefined,
      this.#state.core.observer.counters,
    ));
  }

  #modify(
    operation: string,
    op: ModifyOp,
    key: Key<Part>,
    values: NewValues<Named>,
    options: FindOptions<FilterColumn, Part> | undefined,
    rows: Answered,
  ): Promise<unknown> {
    try {
      const { modify, front } = this.#modification(operation, op, values, rows);
      if (op === 'lock' && this.#executor.inGroup !== true) throw usage('a lock lasts until its group has ended: it is for groups');
      if (isEmptyIn(options)) {
        if (this.#executor.hasCondition === true) throw usage('some and none are not for an in without values');
        return this.#gave(Promise.resolve(rows === '' ? 0 : []));
      }
      const tail = this.#tail(key, options, { modify });
      const slot = new Slot(this.#kind(operation, rows === '' ? Reads.Modified : Reads.Rows, front), tail);
      return this.#executor.run(slot, options);
    } catch (error) {
      return this.#gave(Promise.reject(error as Error));
    }
  }

  #modification(operation: string, op: ModifyOp, values: unknown, rows: Answered): { modify: Asked['modify']; front: Front } {
    if (op === 'D' || op === 'lock') return { modify: { op, values: [], rows }, front: this.#state };
    if (op === 'U' && isAssigned(values)) {
      const state = this.#state;
      const assignments = this.#assignments(values, operation, state, false);
      return { modify: { op: 'set', values: [assignmentsToken(assignments)], rows }, front: state };
    }
    const { tokens, front } = this.#values(values, operation, rows !== '');
    return { modify: { op, values: tokens, rows }, front };
  }

  /** Of each column its position in the index, and what becomes of it. */
  #assignments(values: unknown, operation: string, { shape }: Front, ofUpsert: boolean): string[] {
    const columns = shape.columns;
    const entries: [number, unknown][] = Array.isArray(values)
      ? values.map((value, position) => [position, value])
      : Object.entries(values as Object_).map(([name, value]) => [columns.findIndex((column) => column.name === name), value]);
    if (entries.length === 0) throw usage(`an ${operation} without a value`);
    return entries.map(([position, value], i) => {
      const column = columns[position];
      if (column === undefined) {
        const what = Array.isArray(values) ? `a column ${i}` : `the column ${JSON.stringify(Object.keys(values as Object_)[i])}`;
        throw usage(`the index was not opened with ${what}`);
      }
      return `${position}\t${assignmentTokens(value, column.write, ofUpsert)}`;
    });
  }

  #insertRows(
    operation: string,
    rows: readonly RowValues<Named>[],
    changes: Changes<Named> | undefined,
    options: (InsertManyOptions & UpsertOptions<FilterColumn>) | undefined,
  ): Promise<unknown> {
    try {
      if (!Array.isArray(rows) || rows.length === 0) throw usage('the rows of an insert are an array with one at least');
      const isUpsert = operation !== 'insert';
      if (isUpsert && !isNamed(changes)) throw usage('the changes of an upsert are an object');
      const given = rows.map((row) => this.#values(row, 'insert', isUpsert));
      const front = given[0]!.front;
      const names = namesOf(rows[0]);
      if (rows.some((row) => namesOf(row) !== names)) throw usage('the rows of an insert name the same columns');
      const assignments = isUpsert ? this.#assignments(changes, 'upsert', front, true) : [];
      const filters = (options?.filters ?? []).map((filter) => this.#filter(filter));
      if (filters.some(({ kind }) => kind === 'W')) throw usage("there is no find that a filter of an upsert could end: its effect is 'skip'");
      const tokens = given.map((row) => row.tokens);
      const tail = insertRowsTail(tokens, options?.duplicate ?? 'fail', assignments, filters);
      const slot = new Slot(this.#kind(operation, Reads.Outcomes, front), tail);
      slot.rows = rows.length;
      return this.#executor.run(slot, options);
    } catch (error) {
      return this.#gave(Promise.reject(error as Error));
    }
  }

  #tail(key: Key<Part>, options: FindOptions<FilterColumn, Part> | undefined, asked: Asked, one = false): string {
    if (options === undefined && asked === NOTHING_ELSE && (typeof key === 'number' || typeof key === 'string')) {
      return `\t=\t1\t${this.#partToken(key, 0)}\n`;
    }
    const place = key instanceof Range ? this.#range(key) : { key: this.#keyTokens(key) };
    if (options === undefined) return findTail({ ...place, ...asked });
    const { filters } = options;
    return findTail({
      ...place,
      op: options.op,
      limit: one ? undefined : options.limit,
      offset: options.offset,
      in: options.in === undefined ? undefined : this.#in(options.in, place.key),
      ...(filters === undefined || filters.length === 0 ? {} : { filters: filters.map((filter) => this.#filter(filter)) }),
      ...asked,
    });
  }

  #range(range: Range): { key: string[]; range: NonNullable<Find['range']> } {
    const { key, down } = range.options;
    const tokens = key === undefined || (Array.isArray(key) && key.length === 0) ? [] : this.#keyTokens(key as KeyValues<Part>);
    const ends = range.ends().flatMap(([op, value]) => [op, this.#partToken(value, tokens.length)]);
    return { key: tokens, range: { down: down === true, ends } };
  }

  #partToken(value: unknown, part: number): string {
    const column = this.#state.parts[part];
    return column === undefined ? valueToken(value) : column.write(value);
  }

  #keyTokens(key: KeyValues<Part>): string[] {
    if (Array.isArray(key)) return key.map((value, part) => this.#partToken(value, part));
    if (!isNamed(key)) return [this.#partToken(key, 0)];
    const { parts } = this.#state;
    const count = Object.keys(key).length;
    const tokens: string[] = [];
    for (const { name } of parts.slice(0, count)) {
      if (!Object.hasOwn(key, name)) break;
      tokens.push(this.#partToken((key as Object_)[name], tokens.length));
    }
    if (tokens.length < count || count === 0) {
      throw usage(
        parts.length === 0
          ? 'a key by names needs the names of the parts of the index: its option key'
          : `a key by names has the first of these parts, without a gap: ${parts.map(({ name }) => name).join(', ')}`,
      );
    }
    return tokens;
  }

  /** `in`, and in the key a value in the place of its part, which the server does not look at. */
  #in(
    given: { readonly part?: number | string; readonly values: readonly (Value | Date)[] },
    tokens: string[],
  ): { part: number; values: string[] } {
    const part = typeof given.part === 'string' ? this.#state.parts.findIndex(({ name }) => name === given.part) : (given.part ?? 0);
    if (!Number.isInteger(part) || part < 0 || part > tokens.length) throw usage('in names a part of the key that is not there');
    if (part === tokens.length) tokens.push('');
    return { part, values: given.values.map((value) => this.#partToken(value, part)) };
  }

  #filter(filter: Filter<FilterColumn>): FilterTokens {
    if (!Array.isArray(filter)) throw usage('a filter is an array: a column, an operator and a value');
    const [name, op, value, effect = 'skip'] = filter as readonly [string, FilterOp, unknown, string?];
    const column = this.#state.filters.findIndex((one) => one.name === name);
    if (column < 0) throw usage(`the index was not opened with the filter column ${JSON.stringify(name)}`);
    if (effect !== 'skip' && effect !== 'while') throw usage("a filter's effect is 'skip' or 'while'");
    return { kind: effect === 'while' ? 'W' : 'F', op, column, value: this.#state.filters[column]!.write(value) };
  }

  /** The tokens of values, and the index for them: a request can set only the first columns of an index. */
  #values(values: unknown, operation: string, rowsBefore: boolean): { tokens: string[]; front: Front } {
    if (isAssigned(values)) throw usage(`an ${operation} takes values: assignments are for updates and upserts`);
    const state = this.#state;
    if (Array.isArray(values)) {
      const { columns } = state.shape;
      if (values.length > columns.length) throw usage(`an ${operation} has more values than the index has columns`);
      if (values.length === 0) throw usage(`an ${operation} without a value`);
      return { tokens: values.map((value, i) => columns[i]!.write(value)), front: state };
    }
    if (!isNamed(values)) throw usage(`the values of an ${operation} are an object or an array, not ${describe(values)}`);
    const names = Object.keys(values);
    if (names.length === 0) throw usage(`an ${operation} without a value`);
    for (const name of names) if (!state.columns.has(name)) throw usage(`the index was not opened with the column ${JSON.stringify(name)}`);
    const front = this.#front(new Set(names), rowsBefore);
    return { tokens: front.shape.columns.slice(0, names.length).map((column) => column.write(values[column.name])), front };
  }

  /**
   * The index with these columns, or with these in front if rows are answered. It has no others without need, because the
   * original server empties the columns for which an update has no value.
   */
  #front(names: ReadonlySet<string>, withOthers: boolean): Front {
    const state = this.#state;
    const { columns } = state.shape;
    const isFirst = columns.slice(0, names.size).every(({ name }) => names.has(name));
    if (isFirst && (withOthers || names.size === columns.length)) return state;
    const chosen = columns.filter(({ name }) => names.has(name));
    const known = `${withOthers ? '+' : '='}${chosen.map(({ name }) => name).join(',')}`;
    let front = state.fronts.get(known);
    if (front === undefined) {
      const all = withOthers ? [...chosen, ...columns.filter(({ name }) => !names.has(name))] : chosen;
      const { database, table, index, filterColumns } = state.definition;
      const words = all.map(({ name }) => name);
      front = {
        definition: state.core.define(database, table, index, words, filterColumns),
        shape: { columns: all, named: state.shape.named },
        kinds: [],
      };
      state.fronts.set(known, front);
    }
    return front;
  }
}

/** Whether one of the values is more than a value. */
function isAssigned(values: unknown): boolean {
  const list: unknown[] = Array.isArray(values) ? values : isNamed(values) ? Object.values(values) : [];
  return list.some((value) => value instanceof Assignment);
}

/** What tells rows that have the same columns. */
function namesOf(row: unknown): string {
  return Array.isArray(row) ? String(row.length) : JSON.stringify(Object.keys(row as Object_).sort());
}

function isEmptyIn(options: Pick<FindOptions, 'in' | 'limit'> | undefined): boolean {
  const values = options?.in?.values;
  if (values === undefined) return false;
  if (!Array.isArray(values)) throw usage('the values of in are an array');
  if (options?.limit !== undefined) limitToken(options.limit);
  return values.length === 0;
}

/** The columns for which an index is opened: their names, or their names with types. */
export type Columns = readonly string[] | { readonly [name: string]: ColumnType };

/** Columns as they are read. Without a type, they are text. */
export function columnsOf(columns: unknown, what: string): Column[] {
  if (Array.isArray(columns)) return columns.map((name) => columnOf(checkedName(name, what), 'string?'));
  if (!isNamed(columns)) throw usage(`the ${what} are an array of names, or an object of types by names`);
  return Object.entries(columns).map(([name, type]) => columnOf(checkedName(name, what), type as ColumnType));
}

function checkedName(name: unknown, what: string): string {
  if (typeof name !== 'string' || name === '') throw usage(`the ${what} have names`);
  return name;
}
