// What can be seen of a client from outside: hooks, a logger, diagnostics channels, counters, and names for OpenTelemetry.
// All of it is silent by default, and none of it ever gets a value, a password or a secret.
import * as diagnostics_channel from 'node:diagnostics_channel';
import type { HandlerSocketError } from './errors.js';
import { ReplyError } from './errors.js';

export type RouteName = 'read' | 'write' | 'long' | 'stream';

/** The end of a request. */
export interface RequestEvent {
  /** `find`, `count`, `exists`, `insert`, `upsert`, `update`, `delete`, `increment`, `decrement`, `group`, `describe`, `hello`, `list` or `ping`. */
  readonly operation: string;
  /** This, the table and the index are empty if the request names none. */
  readonly database: string;
  readonly table: string;
  readonly index: string;
  /** The connection's peer, `host:port` or a path; null if the request never had one. */
  readonly address: string | null;
  readonly route: RouteName | null;
  /** From the call to its end. */
  readonly milliseconds: number;
  readonly bytesOut: number;
  readonly bytesIn: number;
  readonly rows: number;
  readonly error: HandlerSocketError | null;
}

/** What happens to connections. */
export interface ConnectionEvent {
  readonly event: 'connected' | 'closed' | 'lost' | 'attempt_failed' | 'fail_over' | 'protocol_error';
  readonly route: RouteName;
  readonly address: string;
  /** Why, in words. */
  readonly reason: string | null;
  /** After an attempt that failed: when the next one begins, at the earliest. */
  readonly nextAttemptInMs: number | null;
}

export interface Hooks {
  /** Called at the end of each request. */
  request?(event: RequestEvent): void;
  connection?(event: ConnectionEvent): void;
}

/** A logger of the application's, such as `console` or pino. It gets the events of connections. */
export interface Logger {
  info?(message: string): void;
  warn?(message: string): void;
}

/** Numbers since the client was made; `inFlight` is of this moment. */
export interface Counters {
  requests: number;
  replies: number;
  errors: number;
  givenUp: number;
  repliesDropped: number;
  inFlight: number;
  bytesOut: number;
  bytesIn: number;
  socketWrites: number;
  socketReads: number;
  connectionsMade: number;
  connectionsLost: number;
}

/** The names of the channels of `node:diagnostics_channel`, whose messages are the events above. */
export const REQUEST_CHANNEL = 'handlersocket2:request';
export const CONNECTION_CHANNEL = 'handlersocket2:connection';

const requests = diagnostics_channel.channel(REQUEST_CHANNEL);
const connections = diagnostics_channel.channel(CONNECTION_CHANNEL);
const WARNINGS: ReadonlySet<ConnectionEvent['event']> = new Set(['lost', 'attempt_failed', 'fail_over', 'protocol_error']);

export class Observer {
  readonly counters: Counters = {
    requests: 0,
    replies: 0,
    errors: 0,
    givenUp: 0,
    repliesDropped: 0,
    inFlight: 0,
    bytesOut: 0,
    bytesIn: 0,
    socketWrites: 0,
    socketReads: 0,
    connectionsMade: 0,
    connectionsLost: 0,
  };

  constructor(
    private readonly hooks: Hooks | undefined,
    private readonly logger: Logger | undefined,
  ) {}

  /** Whether somebody wants to know about requests. */
  get seesRequests(): boolean {
    return this.hooks?.request !== undefined || requests.hasSubscribers;
  }

  request(event: RequestEvent): void {
    if (requests.hasSubscribers) requests.publish(event);
    if (this.hooks?.request !== undefined) guarded(() => this.hooks?.request?.(event));
  }

  connection(event: ConnectionEvent): void {
    if (connections.hasSubscribers) connections.publish(event);
    if (this.hooks?.connection !== undefined) guarded(() => this.hooks?.connection?.(event));
    if (this.logger === undefined) return;
    const delay = event.nextAttemptInMs === null ? '' : `, the next attempt in ${Math.ceil(event.nextAttemptInMs)} ms at the earliest`;
    const reason = event.reason === null ? '' : `: ${event.reason}`;
    const message = `handlersocket2: ${event.event} (${event.route}, ${event.address})${reason}${delay}`;
    guarded(() => (WARNINGS.has(event.event) ? this.logger?.warn?.(message) : this.logger?.info?.(message)));
  }
}

/** What the application's code throws here harms nobody: it is dropped, also if a promise is rejected with it. */
function guarded(run: () => unknown): void {
  try {
    const result = run();
    if (result instanceof Promise) result.catch(() => undefined);
  } catch {
    // The call goes on.
  }
}

/** The attributes of a span or of `db.client.operation.duration`, by OpenTelemetry's names. */
export function otelAttributes(event: RequestEvent): Record<string, string | number> {
  const attributes: Record<string, string | number> = {
    'db.system.name': 'handlersocket',
    'db.operation.name': event.operation,
  };
  if (event.database !== '') attributes['db.namespace'] = event.database;
  if (event.table !== '') attributes['db.collection.name'] = event.table;
  if (event.address !== null) {
    const [, host, port] = /^(.*):(\d+)$/.exec(event.address) ?? [undefined, event.address, undefined];
    attributes['server.address'] = host!.replace(/^\[(.*)\]$/, '$1');
    if (port !== undefined) attributes['server.port'] = Number(port);
  }
  if (event.error !== null) {
    const { error } = event;
    attributes['error.type'] = error instanceof ReplyError ? error.text : error.kind;
    if (error instanceof ReplyError) attributes['db.response.status_code'] = error.text;
  }
  return attributes;
}

/** The name of a request's span. */
export function otelSpanName(event: RequestEvent): string {
  return event.table === '' ? event.operation : `${event.operation} ${event.table}`;
}
