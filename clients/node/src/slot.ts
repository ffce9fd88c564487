// A request on its way: what is sent, what its reply is read as, and who waits for it. A slot is made by a call, belongs to
// one channel and then to one connection at a time, and ends once: with a result or an error. Its place among the requests
// of a connection stays when its caller has given up.
import { HandlerSocketError } from './errors.js';
import type { ErrorKind, Fate } from './errors.js';
import type { Connection } from './connection.js';
import type { Definition } from './definition.js';
import type { Counters } from './observe.js';
import type { ErrorReply, Shape } from './replies.js';

/** What a reply is read as. */
export const enum Reads {
  Rows,
  Modified,
  /** Whether there is a row. */
  Exists,
  Id,
  /** What was done of each row. */
  Outcomes,
  /** What the server says of an index. */
  Description,
  /** Names and values. */
  Pairs,
  /** Names of databases or tables. */
  Names,
  /** The indexes of a table. */
  Indexes,
  /** The value that a ping has sent. */
  Pong,
  Nothing,
  /** What each request of a group gives. */
  Group,
  /** Rows that are given one by one while they arrive. */
  Stream,
}

export const enum Place {
  /** It waits for a connection, or for its turn. Nothing was sent. */
  Waiting,
  /** It stands in a connection's buffer. */
  Pending,
  /** Its first byte was handed to the operating system. */
  Sent,
}

/** An index on a connection. */
export interface Opened {
  readonly connection: Connection;
  /** None for what needs no index. */
  readonly definition: Definition | undefined;
  /** Its number, as it stands in front of a request. */
  readonly prefix: string;
  /** The error of `P`. What came behind it was answered that the index is not open, and so was not executed. */
  error: ErrorReply | undefined;
}

/** What a hook is told about a request, once it has ended. */
export interface Ended {
  readonly rows: number;
  readonly bytesIn: number;
  readonly error: HandlerSocketError | undefined;
}

/** Takes the bytes of a reply that is read while it arrives. */
export interface Sink {
  /** Says how many bytes were taken. The reply has ended if `done`. */
  take(chunk: Buffer): number;
  readonly done: boolean;
  readonly error: ErrorReply | undefined;
  /** The request is sent once more, and its reply begins. */
  restart(): void;
  /** Bytes and rows so far. */
  readonly received: number;
  readonly given: number;
}

/** What a request is about. What it has not is empty. */
export interface About {
  readonly database: string;
  readonly table: string;
  readonly index: string;
}

const NOWHERE: About = { database: '', table: '', index: '' };
/** Of a group that has failed as a whole. */
const NO_KIND = { definition: undefined, about: NOWHERE };
/** What a server answers to P when a column is not there. */
const NO_COLUMN = 'fld';

/** What requests of one index have in common. There is one such object for all of them, because slots are made often. */
export class Kind {
  /** What the client itself asks, for which nobody waits and no bound counts: P, A, an option of H. */
  readonly own: boolean;

  constructor(
    readonly operation: string,
    /** None for what the client itself asks, and for what is about no index. */
    readonly definition: Definition | undefined,
    readonly reads: Reads,
    readonly modifies: boolean,
    /** The rows of its reply. */
    readonly shape?: Shape,
    /** The first row alone, or null. */
    readonly one = false,
    readonly counters?: Counters,
    /** What it is about, for who observes. */
    readonly about: About = definition ?? NOWHERE,
  ) {
    this.own = reads === Reads.Nothing;
  }
}

export class Slot {
  place: Place = Place.Waiting;
  settled = false;
  /** It was sent before, and goes out again: it did nothing there. */
  private wasSent = false;
  /** It goes the way of long finds. */
  long = false;
  /** When its time is over: a whole number of milliseconds by the monotonic clock; 0 is never. */
  deadline = 0;
  /** How often it was sent again, failed attempts to connect for which it has waited, addresses that have sent it elsewhere. */
  retries = 0;
  attempts = 0;
  hops = 0;
  /** It was sent again because a connection was full, which happens once. */
  leftFull = false;
  /** How many rows it sends, of whose fate its reply tells. */
  rows = 1;
  /** The requests of a group, if it is one. */
  readonly group: readonly Slot[] | undefined = undefined;
  /** Of a request of a group: which it is, from 1 on. */
  number = 0;
  /** The group of which it is a request. */
  whole: Slot | undefined;
  /** What stands in front of the number of its index, or of G: `D`, the time for the server, or the condition of a request of a group. */
  front = '';
  opened: Opened | undefined;
  sink: Sink | undefined;
  resolve: (value: unknown) => void = ignore;
  reject: (error: HandlerSocketError) => void = ignore;
  /** Called once at the end, before the caller gets it. */
  onEnd: ((slot: Slot, ended: Ended) => void) | undefined;

  constructor(
    readonly kind: Kind,
    /** The line without the number of the index, or the whole line if it needs none. */
    readonly line: string,
  ) {}

  get definition(): Definition | undefined {
    return this.kind.definition;
  }

  get reads(): Reads {
    return this.kind.reads;
  }

  get modifies(): boolean {
    return this.kind.modifies;
  }

  /** The connection on which it stands. */
  get via(): Connection | undefined {
    return this.opened?.connection;
  }

  /** What is sent, once its index has a number. */
  get text(): string {
    if (this.group !== undefined) return `${this.front}G\t${this.group.length}\n${this.group.map((member) => member.text).join('')}`;
    return this.kind.own ? this.line : this.front + this.opened!.prefix + this.line;
  }

  /** The error of the `P` without which it cannot have been executed. */
  get openingError(): (ErrorReply & { readonly line?: number }) | undefined {
    if (this.group === undefined) return this.opened?.error;
    const member = this.group.find(({ opened }) => opened?.error !== undefined);
    return member && { ...member.opened!.error!, line: member.number };
  }

  /** How many bytes are sent. Those of a group are without the numbers of its indexes. */
  get bytes(): number {
    const length = this.front.length + this.line.length;
    return this.kind.own || this.group !== undefined || this.opened === undefined ? length : this.opened.prefix.length + length;
  }

  /** Whether the server can have seen it, and can have executed it. */
  get fate(): Fate {
    const sent = this.place === Place.Sent;
    return { sent: sent || this.wasSent, maybeExecuted: sent && this.modifies && this.openingError === undefined };
  }

  /** What an error is about, for people: names alone, and never values. The columns are named if one of them is not there. */
  placeOf(text: string, line: number): string {
    const { definition, about } = this.group === undefined ? this.kind : (this.group[line - 1]?.kind ?? NO_KIND);
    if (about.table === '') return '';
    const place = `${about.database}.${about.table}${about.index === '' ? '' : `, index ${about.index}`}`;
    if (text !== NO_COLUMN || definition?.columns === undefined) return place;
    const filters = definition.filterColumns.length === 0 ? '' : `, filter columns ${definition.filterColumns.join(', ')}`;
    return `${place}, columns ${definition.columns.join(', ')}${filters}`;
  }

  /** It is to be sent on another connection. */
  again(): void {
    this.wasSent ||= this.place === Place.Sent;
    this.place = Place.Waiting;
    this.opened = undefined;
    this.sink?.restart();
    this.group?.forEach((member) => (member.opened = undefined));
  }

  /** Ends a request of a group, whose error is counted once for all. */
  end(error: HandlerSocketError): void {
    this.settled = true;
    this.reject(error);
  }

  /** Its reply is right, so its fate is known, but its caller cannot use a value of it. In a group what the others did counts, too. */
  spoil(message: string, cause: unknown, bytesIn: number): void {
    const maybeExecuted = (this.whole?.group ?? [this]).some(({ modifies }) => modifies);
    const error = new HandlerSocketError('decode', message, { sent: true, maybeExecuted }, cause);
    if (this.whole === undefined) this.fail(error, bytesIn);
    else this.end(error);
  }

  succeed(value: unknown, rows: number, bytesIn: number): void {
    if (this.settled) return;
    this.settled = true;
    this.onEnd?.(this, { rows, bytesIn, error: undefined });
    this.resolve(value);
  }

  fail(error: HandlerSocketError, bytesIn = 0): void {
    if (this.settled) return;
    this.settled = true;
    if (this.kind.counters !== undefined) this.kind.counters.errors += 1;
    this.onEnd?.(this, { rows: this.sink?.given ?? 0, bytesIn: this.sink?.received ?? bytesIn, error });
    this.reject(error);
  }

  failWith(kind: ErrorKind, message: string, cause?: unknown): void {
    if (!this.settled) this.fail(new HandlerSocketError(kind, message, this.fate, cause));
  }
}

function ignore(): void {
  // A slot of the client's own: nobody waits for it.
}
