// The client: what an application makes once and shares. It owns the connections of its core.
import { inspect } from 'node:util';
import { endpointName, endpointOf } from './addresses.js';
import { columnOf } from './column-types.js';
import type { Column, TypeName, ValueOf } from './column-types.js';
import { Core } from './core.js';
import type { CallOptions } from './core.js';
import { usage } from './errors.js';
import { runGroup } from './group.js';
import type { On, Results } from './group.js';
import { Index, columnsOf } from './handle.js';
import type { Columns } from './handle.js';
import type { Counters } from './observe.js';
import { settle } from './options.js';
import type { Options } from './options.js';
import { Batch } from './pipeline.js';
import type { Settled } from './pipeline.js';
import { valueToken } from './tokens.js';
import type { Value } from './tokens.js';
import { optionsOfUrl, withEnvironment } from './url.js';

/** Rows by name, from the columns of an index. */
export type NamedRow<C extends Columns> = C extends readonly (infer N extends string)[]
  ? { [name in N]: string | null }
  : { -readonly [name in keyof C]: ValueOf<C[name]> };

type NamesOf<C> = C extends readonly (infer N extends string)[] ? N : keyof C & string;

interface IndexPlace {
  /** The database; by default that of the client. */
  readonly database?: string;
  readonly table: string;
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

const IDLE_LOOK_MS = 5;
const INDEX_OPTIONS: ReadonlySet<string> = new Set(['database', 'table', 'index', 'columns', 'filterColumns', 'key', 'rows']);

export class Client {
  readonly #core: Core;

  /**
   * Nothing is connected before the first request.
   * Without a URL, and without an address in the options, HANDLERSOCKET_URL of the environment is taken.
   */
  constructor(url?: string | Options, options: Options = {}) {
    const own = typeof url === 'object' ? url : options;
    const hasAddress = own.addresses !== undefined || own.host !== undefined || own.port !== undefined || own.portWr !== undefined;
    const isLocal = own.socket !== undefined || own.socketWr !== undefined;
    const text = typeof url === 'string' ? url : hasAddress || isLocal ? undefined : process.env['HANDLERSOCKET_URL'];
    const fromUrl = text === undefined || text === '' ? {} : optionsOfUrl(text);
    if (fromUrl.addresses !== undefined && (hasAddress || isLocal)) delete fromUrl.addresses;
    this.#core = new Core(settle(withEnvironment({ ...fromUrl, ...own }, process.env)));
  }

  /** An index of a table. It can be kept: it belongs to the client and not to a connection. */
  index<const C extends Columns, const F extends Columns = readonly [], const K extends readonly string[] = readonly []>(
    options: IndexOptions<C, F, K> & { readonly rows: 'array' },
  ): Index<NamedRow<C>[keyof NamedRow<C>][], NamedRow<C>, NamesOf<F>, K[number]>;
  index<const C extends Columns, const F extends Columns = readonly [], const K extends readonly string[] = readonly []>(
    options: IndexOptions<C, F, K> & { readonly rows?: 'object' },
  ): Index<NamedRow<C>, NamedRow<C>, NamesOf<F>, K[number]>;
  index<Row extends object>(options: IndexOptionsOf<Row>): Index<Row, Row>;
  index(options: IndexOptions & { readonly rows?: 'object' | 'array' }): unknown {
    for (const name of Object.keys(options)) {
      if (!INDEX_OPTIONS.has(name)) throw usage(`an index has no option ${JSON.stringify(name)}`);
    }
    const { database = this.#core.settings.database, table, index = 'PRIMARY', rows = 'object' } = options;
    if (rows !== 'object' && rows !== 'array') throw usage("rows is 'object' or 'array'");
    const list = columnsOf(options.columns, 'columns');
    const columns = new Map(list.map((column) => [column.name, column]));
    if (rows === 'object' && (columns.size < list.length || columns.has('__proto__'))) {
      throw usage("two columns of one name, or one that is called __proto__, need rows: 'array'");
    }
    const filters = columnsOf(options.filterColumns ?? [], 'filter columns');
    // A filter column without a type has that of the column, if it is one of the columns.
    const typed = Array.isArray(options.filterColumns ?? []) ? filters.map((column) => columns.get(column.name) ?? column) : filters;
    const definition = this.#core.define(
      database,
      table,
      index,
      list.map(({ name }) => name),
      filters.map(({ name }) => name),
    );
    const parts = (options.key ?? []).map((name) => columns.get(name) ?? typed.find((column) => column.name === name) ?? untyped(name));
    const state = {
      core: this.#core,
      definition,
      shape: { columns: list, named: rows === 'object' },
      columns,
      filters: typed,
      parts,
      fronts: new Map(),
      kinds: [],
    };
    return new Index(state, this.#core);
  }

  /**
   * Hands several requests over together: `pipeline((on) => [on(users).findOne(1), on(users).update(1, { name: 'x' })])`.
   * They stay neighbours on one connection, and each has its own result. With a modification among them all go to the port
   * for writing, so that finds see what stands before them. It is no transaction.
   */
  async pipeline<const T extends readonly unknown[]>(build: (on: <I>(index: I) => I) => T, options?: CallOptions): Promise<Settled<T>> {
    const batch = new Batch(this.#core, options);
    try {
      const promises = build((index) => Index.with(index, batch));
      if (!Array.isArray(promises)) throw usage('the function of a pipeline gives an array of its requests');
      batch.send();
      return (await Promise.allSettled(promises as readonly unknown[])) as Settled<T>;
    } finally {
      batch.abandon();
    }
  }

  /**
   * Requests that are done as a whole or not at all, and of which nobody sees a part:
   * `group((on) => [on.some(accounts).decrement(1, { balance: 5 }), on.some(accounts).increment(2, { balance: 5 })])`.
   * The result is that of each. If one fails, nothing was done, and the error is its own, with its place as `line`.
   * It goes to the port for writing in one piece, and is never sent twice.
   */
  group<const T extends readonly unknown[]>(build: (on: On) => T, options?: CallOptions): Promise<Results<T>> {
    return runGroup(this.#core, build, options) as Promise<Results<T>>;
  }

  /** Connects for reading and, if there is such a port, for writing, logs in, and waits for it. */
  ping(options?: CallOptions): Promise<void> {
    return this.#core.ping(options);
  }

  /** Numbers of what has been done, at this moment. */
  get counters(): Readonly<Counters> {
    return { ...this.#core.observer.counters, inFlight: this.#core.inFlight };
  }

  /** Ends at once: every call that is under way, and those to come, get the error `closed`. */
  close(): Promise<void> {
    this.#core.close();
    // The sockets are closed in the next turn of the event loop.
    return new Promise((resolve) => setImmediate(resolve));
  }

  /** Takes no new calls, waits for the replies that are owed, at most so many milliseconds, and closes. */
  async shutdown(milliseconds = 10_000): Promise<void> {
    this.#core.draining = true;
    const end = performance.now() + milliseconds;
    while (!this.#core.isIdle && !this.#core.closed && performance.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, IDLE_LOOK_MS));
    }
    await this.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown();
  }

  /** Neither password nor secret. */
  toString(): string {
    const { addresses, user, database, tls } = this.#core.settings;
    const names = addresses.map((address) => {
      const [read, write] = [endpointOf(address, 'read'), endpointOf(address, 'write')];
      return (address.socket ?? address.port) === undefined ? `${endpointName(write!)} (writing)` : endpointName(read!);
    });
    return `handlersocket2 client of ${user === undefined ? '' : `${user}@`}${names.join(',')}/${database}${tls === 'off' ? '' : ` with TLS`}`;
  }

  [inspect.custom](): string {
    return `Client { ${this.toString()} }`;
  }
}

/** A part of the key that is no column of the rows. */
function untyped(name: string): Column {
  return { ...columnOf(name, 'string?'), write: valueToken };
}
