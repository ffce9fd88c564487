// The types of what the calls of an index take.
import type { Assignment } from './assign.js';
import type { RequestOptions } from './core.js';
import type { Range } from './range.js';
import type { Duplicate, FilterOp, FindOp } from './requests.js';
import type { Value } from './tokens.js';

/** What can be written. A Date only where a type names its time zone, other objects only as JSON or by a type of one's own. */
export type Writable = Value | Date | { [member: string]: any } | readonly unknown[];

/** The values of the index's first parts: one, several, or these by the names of the parts. */
export type KeyValues<Part extends string = string> = Value | Date | readonly (Value | Date)[] | { readonly [P in Part]?: Value | Date };

/** A key, or a range in its place. */
export type Key<Part extends string = string> = KeyValues<Part> | Range<KeyValues<Part> | undefined, Value | Date | undefined>;

/** A condition: `['age', '>=', 18]` skips the rows for which it does not hold; with `'while'` the find ends at the first of them. */
export type Filter<Column extends string = string> =
  | readonly [column: Column, op: FilterOp, value: Value | Date]
  | readonly [column: Column, op: FilterOp, value: Value | Date, effect: 'skip' | 'while'];

export interface FindOptions<FilterColumn extends string = string, Part extends string = string> extends RequestOptions {
  /** How the key is compared; `=` by default. `>` and `>=` go up the index, `<` and `<=` go down. */
  op?: FindOp | undefined;
  /** The most rows; 1 by default. */
  limit?: number | bigint | undefined;
  offset?: number | bigint | undefined;
  /** A part of the key takes each of these values in turn. */
  in?: { readonly part?: number | Part; readonly values: readonly (Value | Date)[] } | undefined;
  filters?: readonly Filter<FilterColumn>[] | undefined;
  /** It goes over the connection for long finds, so that others do not stand behind it. */
  long?: boolean | undefined;
}

export interface FindInOptions<FilterColumn extends string = string, Part extends string = string> extends Omit<
  FindOptions<FilterColumn, Part>,
  'in'
> {
  /** The values of the other parts. */
  key?: Key<Part> | undefined;
  /** The part that takes the values; by default the first. */
  part?: number | Part | undefined;
}

/** The values of a row by their names, or of the first columns by their positions. */
export type RowValues<Named> = { readonly [N in keyof Named]?: Named[N] | Writable } | readonly Writable[];

/** The same with assignments among them. */
export type NewValues<Named> = { readonly [N in keyof Named]?: Named[N] | Writable | Assignment } | readonly (Writable | Assignment)[];

/** What becomes of columns of a row that is there, by their names. */
export type Changes<Named> = { readonly [N in keyof Named]?: Named[N] | Writable | Assignment };

/** Of a count, which has no limit unless one is given. */
export type CountOptions<FilterColumn extends string = string, Part extends string = string> = FindOptions<FilterColumn, Part>;

export interface InsertManyOptions extends RequestOptions {
  /** What is done about a row that is there already; by default the request fails. */
  duplicate?: Duplicate | undefined;
}

export interface UpsertOptions<FilterColumn extends string = string> extends RequestOptions {
  /** A row that is there is left as it is unless it meets all of them. */
  filters?: readonly Filter<FilterColumn>[] | undefined;
}
