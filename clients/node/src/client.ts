// The client: what an application makes once and shares. It owns the connections of its core.
import { inspect } from 'node:util';
import { endpointName, endpointOf } from './addresses.js';
import { Core } from './core.js';
import type { CallOptions, RequestOptions } from './core.js';
import type { Description } from './description.js';
import { usage } from './errors.js';
import { runGroup } from './group.js';
import type { On, Results } from './group.js';
import { Index } from './handle.js';
import type { Columns } from './handle.js';
import { checkTypes, definitionOf, describedIndexOf, indexOf, tableOf } from './index-options.js';
import type {
  DescribeOptions,
  DescribedRow,
  IndexOptions,
  IndexOptionsOf,
  NamedRow,
  NamesOf,
  TablePlace,
  TypesOptions,
} from './index-options.js';
import { PING_LINE } from './list.js';
import type { ListedIndex } from './list.js';
import type { Counters } from './observe.js';
import { givenOf, settle } from './options.js';
import type { Options } from './options.js';
import { Batch } from './pipeline.js';
import type { Settled } from './pipeline.js';
import { helloLine, listLine } from './requests.js';
import { checkSecurity } from './secure.js';
import { Kind, Reads, Slot } from './slot.js';
import { optionsOfUrl, withEnvironment } from './url.js';

const IDLE_LOOK_MS = 5;

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
    const text = typeof url === 'string' ? url : hasAddress || isLocal ? undefined : process.env['HANDLERSOCKET_URL'] || undefined;
    const fromUrl = text === undefined ? {} : optionsOfUrl(text);
    if (fromUrl.addresses !== undefined && (hasAddress || isLocal)) delete fromUrl.addresses;
    const settings = settle(withEnvironment({ ...fromUrl, ...givenOf(own) }, process.env));
    checkSecurity(settings);
    this.#core = new Core(settings);
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
    return indexOf(this.#core, options);
  }

  /** Asks the server what the columns of an index are, and what its key is made of. Without `columns` it is all that the table has. */
  async describe(options: DescribeOptions, call?: CallOptions): Promise<Description> {
    const definition = definitionOf(this.#core, options);
    const { counters } = this.#core.observer;
    const slot = new Slot(new Kind('describe', definition, Reads.Description, false, undefined, false, counters), '\n');
    slot.front = 'D\t';
    return this.#core.ask(slot, call) as Promise<Description>;
  }

  /**
   * An index whose columns and types are those of a description. It sends nothing, and the description is from one moment: after an
   * ALTER TABLE a value that does not fit its old type is the error `decode`. Then describe it again.
   */
  indexFrom(description: Description, options: TypesOptions & { readonly rows: 'array' }): Index<any[], DescribedRow>;
  indexFrom<Row extends object = DescribedRow>(
    description: Description,
    options?: TypesOptions & { readonly rows?: 'object' },
  ): Index<Row, Row>;
  indexFrom(description: Description, options: TypesOptions = {}): unknown {
    return describedIndexOf(this.#core, description, options);
  }

  /** Asks the server for a description, and makes an index from it: `describedIndex<User>({ table: 'user' })`. */
  describedIndex(
    options: DescribeOptions & TypesOptions & { readonly rows: 'array' },
    call?: CallOptions,
  ): Promise<Index<any[], DescribedRow>>;
  describedIndex<Row extends object = DescribedRow>(
    options: DescribeOptions & TypesOptions & { readonly rows?: 'object' },
    call?: CallOptions,
  ): Promise<Index<Row, Row>>;
  async describedIndex({ types = {}, rows = 'object', ...options }: DescribeOptions & TypesOptions, call?: CallOptions): Promise<unknown> {
    const typed = { types, rows };
    checkTypes(typed);
    return describedIndexOf(this.#core, await this.describe(options, call), typed);
  }

  /** Asks the server for its versions, and for what it understands. */
  async hello(options?: CallOptions): Promise<ReadonlyMap<string, string>> {
    // A hello turns off what it does not name.
    const line = helloLine(this.#core.settings.texts === 'on');
    return this.#ask('hello', Reads.Pairs, line, options) as Promise<ReadonlyMap<string, string>>;
  }

  /**
   * Hands several requests over together: `pipeline((on) => [on(users).findOne(1), on(users).update(1, { name: 'x' })])`.
   * They stay neighbours on one connection, and each has its own result. With a modification among them all go to the port
   * for writing, so that finds see what stands before them. It is no transaction.
   */
  async pipeline<const T extends readonly unknown[]>(build: (on: <I>(index: I) => I) => T, options?: RequestOptions): Promise<Settled<T>> {
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
  group<const T extends readonly unknown[]>(build: (on: On) => T, options?: RequestOptions): Promise<Results<T>> {
    return runGroup(this.#core, build, options) as Promise<Results<T>>;
  }

  /** Connects if need be, and asks the server to say that it is there. A server that does not know the question is there, too. */
  ping(options?: CallOptions): Promise<void> {
    return this.#ask('ping', Reads.Pong, PING_LINE, options) as Promise<void>;
  }

  /** The databases of which the account may know. */
  async databases(options?: CallOptions): Promise<string[]> {
    return this.#ask('list', Reads.Names, listLine(), options) as Promise<string[]>;
  }

  /** The tables of a database that the account can open; by default of the client's database. */
  async tables(database: string = this.#core.settings.database, options?: CallOptions): Promise<string[]> {
    return this.#ask('list', Reads.Names, listLine(database), options, database) as Promise<string[]>;
  }

  /** The indexes of a table with their parts: `indexes({ table: 'user' })`. */
  async indexes(place: TablePlace, options?: CallOptions): Promise<ListedIndex[]> {
    const { database, table } = tableOf(this.#core, place);
    return this.#ask('list', Reads.Indexes, listLine(database, table), options, database, table) as Promise<ListedIndex[]>;
  }

  /** Sends a line that is about no index. */
  #ask(operation: string, reads: Reads, line: string, options: CallOptions | undefined, database = '', table = ''): Promise<unknown> {
    const { counters } = this.#core.observer;
    const kind = new Kind(operation, undefined, reads, false, undefined, false, counters, { database, table, index: '' });
    return this.#core.ask(new Slot(kind, line), options);
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
