// What all indexes of a client share: its routes, addresses, definitions and deadlines. It decides where a request goes.
import { Addresses, endpointName, endpointOf } from './addresses.js';
import type { Port } from './addresses.js';
import { Channel } from './channel.js';
import type { Connection } from './connection.js';
import { Definition } from './definition.js';
import { usage } from './errors.js';
import type { HandlerSocketError } from './errors.js';
import { Observer } from './observe.js';
import type { RouteName } from './observe.js';
import type { Settings } from './options.js';
import { withinFront } from './requests.js';
import { Signals } from './signals.js';
import { Streams } from './streams.js';
import { Place, Reads } from './slot.js';
import type { Slot } from './slot.js';
import { Sweeper } from './sweeper.js';

/** What a call may say about itself. */
export interface CallOptions {
  /** Milliseconds from now; 0 is without end. */
  timeout?: number | undefined;
  /** Frees the caller at once. A request that was sent may be executed all the same. */
  signal?: AbortSignal | undefined;
}

/** What a call that finds, counts or modifies may say besides. */
export interface RequestOptions extends CallOptions {
  /** Milliseconds that the server may take, from 1 to 2147483648. When they are over, it has done nothing, and says so. */
  within?: number | undefined;
}

/** Runs requests: at once, or in a pipeline. */
export interface Executor {
  /** The client's, whose indexes it can run. */
  readonly core: Core;
  /** Of a group, and whether its requests must meet a row or none. */
  readonly inGroup?: boolean;
  readonly hasCondition?: boolean;
  /** Is told of a promise for which nothing is run: the call cannot be meant, or has nothing to ask. */
  gave?(promise: Promise<unknown>): void;
  run(slot: Slot, options: RequestOptions | undefined): Promise<unknown>;
}

/** What the server is given no time for. */
const HAS_NO_TIME: ReadonlySet<Reads> = new Set([Reads.Description, Reads.Pairs, Reads.Names, Reads.Indexes, Reads.Pong]);

export class Core implements Executor {
  readonly core = this;
  readonly addresses: Addresses;
  readonly observer: Observer;
  readonly sweeper = new Sweeper();
  private readonly definitions = new Map<string, Definition>();
  private readonly reads: Channel[];
  private readonly writes: Channel[];
  private readonly longs: Channel[];
  readonly streams: Streams;
  private readonly signals = new Signals((slot, reason) => this.abort(slot, reason));
  private readonly hasWriter: boolean;
  private readonly behindWrites: boolean;
  closed = false;
  /** It takes no new calls. */
  draining = false;

  constructor(readonly settings: Settings) {
    this.addresses = new Addresses(settings.addresses, settings.readFrom);
    this.observer = new Observer(settings.hooks, settings.logger);
    const channels = (count: number, route: RouteName, port: Port): Channel[] =>
      Array.from({ length: count }, () => new Channel(this, route, port));
    this.reads = channels(settings.readConnections, 'read', 'read');
    this.writes = channels(settings.writeConnections, 'write', 'write');
    this.longs = channels(settings.longConnections, 'long', 'read');
    this.streams = new Streams(this, settings.maxStreams);
    this.hasWriter = this.addresses.hasWriter;
    this.behindWrites = settings.readAfterWrite === 'sent';
  }

  /** Two indexes with the same words are opened once on a connection. */
  define(
    database: string,
    table: string,
    index: string,
    columns: readonly string[] | undefined,
    filterColumns: readonly string[],
  ): Definition {
    const made = new Definition(database, table, index, columns, filterColumns);
    const known = this.definitions.get(made.words);
    if (known !== undefined) return known;
    this.definitions.set(made.words, made);
    return made;
  }

  run(slot: Slot, options: RequestOptions | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      slot.resolve = resolve;
      slot.reject = reject;
      if (this.begin(slot, options)) this.submit(slot);
    });
  }

  /** Runs what asks about the server and not about rows. Without a port for reading it goes by the route for writing. */
  ask(slot: Slot, options: CallOptions | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      slot.resolve = resolve;
      slot.reject = reject;
      if (this.begin(slot, options)) leastLoaded(this.addresses.hasReader ? this.reads : this.writes).submit(slot);
    });
  }

  /** Gives a slot its deadline and its signal. False if it has ended already. */
  begin(slot: Slot, options: RequestOptions | undefined): boolean {
    const { counters } = this.observer;
    counters.requests += 1;
    const timeout = options?.timeout ?? this.settings.timeout;
    if (timeout !== 0) slot.deadline = Math.ceil(performance.now() + timeout);
    if (this.observer.seesRequests) this.observe(slot);
    if (this.closed || this.draining) slot.failWith('closed', 'the client is closed');
    else if (slot.modifies && !this.hasWriter) slot.fail(usage('a modification needs a port for writing, and the client has none'));
    else if (typeof timeout !== 'number' || !(timeout >= 0)) slot.fail(usage('a timeout is a number of milliseconds; 0 is without end'));
    else if (options !== undefined) this.obey(slot, options);
    return !slot.settled;
  }

  private obey(slot: Slot, { within, signal }: RequestOptions): void {
    if (within !== undefined) {
      try {
        if (HAS_NO_TIME.has(slot.reads)) throw usage('within is for requests that find, count or modify');
        slot.front = withinFront(within);
      } catch (error) {
        slot.fail(error as HandlerSocketError);
        return;
      }
    }
    if (signal !== undefined) this.watch(slot, signal);
  }

  private watch(slot: Slot, signal: AbortSignal): void {
    if (signal.aborted) {
      slot.failWith('cancelled', 'the call was cancelled', signal.reason);
      return;
    }
    this.signals.watch(slot, signal);
  }

  private readonly abort = (slot: Slot, reason: unknown): void => {
    if (slot.via !== undefined) {
      slot.via.giveUp(slot, 'cancelled', 'the call was cancelled', reason);
    } else {
      this.observer.counters.givenUp += 1;
      slot.failWith('cancelled', 'the call was cancelled', reason);
    }
  };

  submit(slot: Slot): void {
    if (slot.reads === Reads.Stream) this.streams.submit(slot);
    else this.channelFor(slot.modifies, slot.long).submit(slot);
  }

  /** Hands over slots that stay neighbours on one connection. */
  submitAll(slots: readonly Slot[]): void {
    const modifies = slots.some((slot) => slot.modifies);
    const long = slots.some((slot) => slot.long);
    this.channelFor(modifies, long).submitAll(slots);
  }

  private channelFor(modifies: boolean, long: boolean): Channel {
    if (modifies || (this.behindWrites && this.hasWriter && this.writes[0]!.hasWrites)) return leastLoaded(this.writes);
    return leastLoaded(long ? this.longs : this.reads);
  }

  /** A server has said that another one has to do it. The request was not executed. */
  elsewhere(slot: Slot, connection: Connection, channel: Channel): boolean {
    if (this.closed || slot.hops + 1 >= this.addresses.list.length) return false;
    slot.hops += 1;
    slot.again();
    if (this.addresses.failed(channel.port, connection.address))
      this.movedFrom(connection.address, channel.route, 'the server sends requests elsewhere');
    channel.place(slot);
    return true;
  }

  /** Requests do not go to this address any more. Its connections answer what they owe. */
  movedFrom(place: number, route: RouteName, reason: string): void {
    this.observer.connection({ event: 'fail_over', route, address: this.nameOf(place, 'read'), reason, nextAttemptInMs: null });
    for (const channel of this.channels()) {
      if (this.addresses.target(channel.port) !== place) channel.leave(place);
    }
  }

  nameOf(place: number, port: Port): string {
    const address = this.addresses.list[place]!;
    const endpoint = endpointOf(address, port) ?? endpointOf(address, port === 'read' ? 'write' : 'read');
    return endpoint === null ? 'an address without ports' : endpointName(endpoint);
  }

  private channels(): Channel[] {
    return [...this.reads, ...this.writes, ...this.longs, ...this.streams.channels];
  }

  get inFlight(): number {
    return this.channels().reduce((sum, channel) => sum + channel.inFlight, 0);
  }

  /** Whether a caller waits for anything. */
  get isIdle(): boolean {
    return this.streams.isIdle && this.channels().every((channel) => channel.load === 0 && channel.inFlight === 0);
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.streams.close();
    for (const channel of this.channels()) channel.close();
    this.sweeper.stop();
  }

  /** Tells the hooks about a request when it has ended. */
  private observe(slot: Slot): void {
    const { operation, about, own } = slot.kind;
    if (own) return;
    const { database, table, index } = about;
    const began = performance.now();
    slot.onEnd = ({ via, place, bytes }, { rows, bytesIn, error = null }) => {
      this.observer.request({
        operation,
        database,
        table,
        index,
        address: via?.peer ?? null,
        route: via?.route ?? (slot.reads === Reads.Stream ? 'stream' : null),
        milliseconds: performance.now() - began,
        bytesOut: place === Place.Sent ? bytes : 0,
        bytesIn,
        rows,
        error,
      });
    };
  }
}

function leastLoaded(channels: readonly Channel[]): Channel {
  let best = channels[0]!;
  for (let i = 1; i < channels.length; i++) if (channels[i]!.load < best.load) best = channels[i]!;
  return best;
}
