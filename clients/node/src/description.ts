// What the server says of an index: reading its reply, and the types by which the values are then read and written.
import type { TypeName } from './column-types.js';
import type { Definition } from './definition.js';
import { WrongReply } from './errors.js';
import type { Piece } from './pieces.js';
import type { Head } from './replies.js';
import { readTexts } from './replies.js';

/** What the server says of a column. What is null it does not say: of a column that the account may not see there is only its name. */
export interface DescribedColumn {
  readonly name: string;
  /** As SQL writes it, such as `int(10) unsigned`. */
  readonly type: string | null;
  readonly nullable: boolean | null;
  readonly unsigned: boolean | null;
  readonly decimals: number | null;
  /** The character set, or null if the values are bytes or no text. */
  readonly charset: string | null;
}

/** A part of an index. One that is an expression has no name. */
export interface DescribedPart extends Omit<DescribedColumn, 'name'> {
  readonly name: string | null;
}

/** An index as it was when the server was asked, from which a client makes one with types. */
export interface Description {
  readonly database: string;
  readonly table: string;
  readonly index: string;
  readonly columns: readonly DescribedColumn[];
  readonly filterColumns: readonly DescribedColumn[];
  readonly key: readonly DescribedPart[];
}

const KINDS = ['column', 'filter', 'key'];
// The kind, the name, the type, nullable, unsigned, the decimals, and the character set.
const WIDTH = 7;
const FLAGS: ReadonlyMap<string | null, boolean | null> = new Map([
  ['1', true],
  ['0', false],
  [null, null],
]);

/** Reads the reply to `D` for this index. */
export function readDescription(piece: Piece, head: Head, to: number, definition: Definition): Description {
  const texts = readTexts(piece, head.values, to);
  if (head.count !== WIDTH || texts.length % WIDTH !== 0) throw wrong();
  const lists: [DescribedPart[], DescribedPart[], DescribedPart[]] = [[], [], []];
  let last = 0;
  for (let at = 0; at < texts.length; at += WIDTH) {
    const place = KINDS.indexOf(texts[at] ?? '');
    if (place < last) throw wrong();
    last = place;
    lists[place]!.push(described(texts, at));
  }
  const [columns, filterColumns, key] = lists;
  if (key.length === 0) throw wrong();
  const { database, table, index } = definition;
  return {
    database,
    table,
    index,
    columns: named(columns, definition.columns),
    filterColumns: named(filterColumns, definition.filterColumns),
    key,
  };
}

function described(texts: readonly (string | null)[], at: number): DescribedPart {
  const [, name, type, nullable, unsigned, decimals, charset] = texts.slice(at, at + WIDTH) as [string | null, ...(string | null)[]];
  if (decimals !== null && !/^\d{1,9}$/.test(decimals!)) throw wrong();
  return {
    name: name!,
    type: type!,
    nullable: flag(nullable!),
    unsigned: flag(unsigned!),
    decimals: decimals === null ? null : Number(decimals),
    charset: charset!,
  };
}

function flag(text: string | null): boolean | null {
  const value = FLAGS.get(text);
  if (value === undefined) throw wrong();
  return value;
}

/** The columns with the names for which the index was opened, if those are known. */
function named(columns: readonly DescribedPart[], asked: readonly string[] | undefined): DescribedColumn[] {
  if (asked !== undefined && asked.length !== columns.length) throw wrong();
  return columns.map(({ name, ...others }, i) => {
    if (name === null || (asked !== undefined && asked[i] !== name)) throw wrong();
    return { name, ...others };
  });
}

function wrong(): WrongReply {
  return new WrongReply('the reply does not describe the index');
}

const TYPES: ReadonlyMap<string, TypeName> = new Map(
  (
    [
      ['integer', 'tinyint smallint mediumint int year'],
      ['bigint', 'bigint'],
      ['decimal', 'decimal'],
      ['double', 'float double'],
      ['string', 'char varchar tinytext text mediumtext longtext enum set json inet4 inet6'],
      ['bytes', 'binary varbinary tinyblob blob mediumblob longblob bit vector geometry point linestring polygon'],
      ['bytes', 'multipoint multilinestring multipolygon geometrycollection geomcollection'],
      ['date', 'date'],
      ['datetime', 'datetime timestamp'],
      ['time', 'time'],
      ['uuid', 'uuid'],
    ] as const
  ).flatMap(([type, words]) => words.split(' ').map((word) => [word, type] as const)),
);

/** How the values of a column are read. Of one that may be NULL, or of which nothing is known, NULL is null. */
export function typeOf({ type, charset, nullable }: Omit<DescribedColumn, 'name'>): TypeName | `${TypeName}?` {
  const word = /^\w*/.exec(type ?? '')![0].toLowerCase();
  const name = TYPES.get(word) ?? (charset === null ? 'bytes' : 'string');
  return nullable === false ? name : `${name}?`;
}
