// What an application says of an index, and what becomes of it: the columns with their types, from its own words or from a
// description of the server's.
import { columnOf } from './column-types.js';
import type { Column, ColumnType, TypeName, ValueOf } from './column-types.js';
import type { Core } from './core.js';
import type { Definition } from './definition.js';
import { typeOf } from './description.js';
import type { DescribedPart, Description } from './description.js';
import { usage } from './errors.js';
import { Index, columnsOf } from './handle.js';
import type { Columns } from './handle.js';
import { valueToken } from './tokens.js';
import type { Value } from './tokens.js';

/** Rows by name, from the columns of an index. */
export type NamedRow<C extends Columns> = C extends readonly (infer N extends string)[]
  ? { [name in N]: string | null }
  : { -readonly [name in keyof C]: ValueOf<C[name]> };

export type NamesOf<C> = C extends readonly (infer N extends string)[] ? N : keyof C & string;

export interface TablePlace {
  /** The database; by default that of the client. */
  readonly database?: string;
  readonly table: string;
}

export interface IndexPlace extends TablePlace {
  /** The name of the index; by default PRIMARY. */
  readonly index?: string;
}

export interface IndexOptions<
  C extends Columns = Columns,
  F extends Columns = Columns,
  K extends readonly string[] = readonly string[],
> extends IndexPlace {
  /** What rows have, and what can be set. An array: all of it is text. */
  readonly columns: C;
  /** The columns of which filters may speak. */
  readonly filterColumns?: F;
  /** The names of the parts of the index, for keys by name, and for the types of their values. */
  readonly key?: K;
}

type TypeWord = TypeName | `${TypeName}?`;

/** The types that a column can have, if its values are to be V. JSON can be anything. */
export type TypesFor<V> = { [T in TypeWord]: ValueOf<T> extends V ? T : never }[TypeWord] | TypeOfOnesOwn<V> | 'json';

interface TypeOfOnesOwn<V> {
  read(bytes: Buffer | null): V;
  // What is written may be of a narrower type than what is read.
  write?(value: any): Value;
}

/** Options of an index whose rows are of a type that the application has. */
export interface IndexOptionsOf<Row> extends IndexPlace {
  readonly columns: { readonly [N in keyof Row]-?: TypesFor<Row[N]> };
  readonly filterColumns?: Columns;
  readonly key?: readonly string[];
  readonly rows?: 'object';
}

/** Which index is described, and which of its columns. */
export interface DescribeOptions extends IndexPlace {
  /** By default all that the table has. */
  readonly columns?: readonly string[];
  readonly filterColumns?: readonly string[];
}

/** What an index that is made from a description has in another way. */
export interface TypesOptions {
  /** Types in place of those that the description gives, for columns by their names. */
  readonly types?: { readonly [column: string]: ColumnType };
  readonly rows?: 'object' | 'array';
}

/** A row of an index whose columns only the server knows. */
export type DescribedRow = { [column: string]: any };

type Rows = 'object' | 'array';

const TABLE_OPTIONS: ReadonlySet<string> = new Set(['database', 'table']);
const PLACE_OPTIONS = [...TABLE_OPTIONS, 'index', 'columns', 'filterColumns'];
const INDEX_OPTIONS: ReadonlySet<string> = new Set([...PLACE_OPTIONS, 'key', 'rows']);
const DESCRIBE_OPTIONS: ReadonlySet<string> = new Set(PLACE_OPTIONS);

function checkNames(options: object, known: ReadonlySet<string>, what: string): void {
  for (const name of Object.keys(options)) if (!known.has(name)) throw usage(`${what} has no option ${JSON.stringify(name)}`);
}

export function indexOf(core: Core, options: IndexOptions & { readonly rows?: Rows }): Index {
  checkNames(options, INDEX_OPTIONS, 'an index');
  checkRows(options.rows);
  const { filterColumns = [] } = options;
  const columns = columnsOf(options.columns, 'columns');
  const known = new Map(columns.map((column) => [column.name, column]));
  const filters = columnsOf(filterColumns, 'filter columns');
  // A filter column without a type has that of the column, if it is one of the columns.
  const typed = Array.isArray(filterColumns) ? filters.map((column) => known.get(column.name) ?? column) : filters;
  const parts = (options.key ?? []).map((name) => known.get(name) ?? typed.find((column) => column.name === name) ?? untyped(name));
  return build(core, options, columns, typed, parts, options.rows);
}

/** The index that is to be described, as a connection opens it. */
export function definitionOf(core: Core, options: DescribeOptions): Definition {
  checkNames(options, DESCRIBE_OPTIONS, 'a description');
  const { database = core.settings.database, table, index = 'PRIMARY', columns, filterColumns = [] } = options;
  for (const names of [columns === undefined ? [] : columns, filterColumns]) {
    if (!Array.isArray(names)) throw usage('columns to describe are an array of names');
  }
  return core.define(database, table, index, columns, filterColumns);
}

/** The names of a table. */
export function tableOf(core: Core, options: TablePlace): Required<TablePlace> {
  checkNames(options, TABLE_OPTIONS, 'a list of indexes');
  const { database = core.settings.database, table } = options;
  return { database, table };
}

/** Refuses what cannot be meant, whatever the description says. */
export function checkTypes({ types = {}, rows, ...others }: TypesOptions): void {
  checkNames(others, new Set(), 'an index with types');
  checkRows(rows);
  for (const [name, type] of Object.entries(types)) columnOf(name, type);
}

function checkRows(rows: Rows | undefined): void {
  if (rows !== undefined && rows !== 'object' && rows !== 'array') throw usage("rows is 'object' or 'array'");
}

/** An index with types, by the names of the columns that were described. */
export function describedIndexOf(core: Core, description: Description, options: TypesOptions): Index {
  checkTypes(options);
  const { types = {}, rows } = options;
  const { columns, filterColumns, key } = description;
  if (![columns, filterColumns, key].every(Array.isArray)) throw usage('an index with types is made from a description');
  const all = [...columns, ...filterColumns, ...key];
  for (const name of Object.keys(types)) {
    if (!all.some((column) => column.name === name)) throw usage(`the description has no column ${JSON.stringify(name)}`);
  }
  // A part that is an expression cannot be named, as no column has an empty name.
  const typed = (column: DescribedPart): Column => {
    const name = column.name ?? '';
    return columnOf(name, Object.hasOwn(types, name) ? types[name]! : typeOf(column));
  };
  return build(core, description, columns.map(typed), filterColumns.map(typed), key.map(typed), rows);
}

function build(
  core: Core,
  place: IndexPlace,
  columns: readonly Column[],
  filters: readonly Column[],
  parts: readonly Column[],
  rows: Rows = 'object',
): Index {
  const byName = new Map(columns.map((column) => [column.name, column]));
  if (rows === 'object' && (byName.size < columns.length || byName.has('__proto__'))) {
    throw usage("two columns of one name, or one that is called __proto__, need rows: 'array'");
  }
  const { database = core.settings.database, table, index = 'PRIMARY' } = place;
  const names = (list: readonly Column[]): string[] => list.map(({ name }) => name);
  const state = {
    core,
    definition: core.define(database, table, index, names(columns), names(filters)),
    shape: { columns, named: rows === 'object' },
    columns: byName,
    filters,
    parts,
    fronts: new Map(),
    kinds: [],
  };
  return new Index(state, core);
}

/** A part of the key that is no column of the rows. */
function untyped(name: string): Column {
  return { ...columnOf(name, 'string?'), write: valueToken };
}
