// What a connection wants to know of its channel, and what it tells it.
import type { Connection } from './connection.js';
import type { Counters, RouteName } from './observe.js';
import type { Slot } from './slot.js';

export interface Limits {
  readonly maxInFlight: number;
  readonly maxInFlightBytes: number;
  readonly maxReplyBytes: number;
  readonly deadAfter: number;
  readonly retryReads: number;
  readonly stayAwake: boolean;
}

/** The channel, as a connection sees it. */
export interface Owner {
  readonly route: RouteName;
  readonly limits: Limits;
  readonly counters: Counters;
  /** Replies have come, or requests were taken back. */
  room(connection: Connection): void;
  /** A server has said that another one has to do it. True if the slot is taken away. */
  elsewhere(slot: Slot, connection: Connection): boolean;
  /** It can open no more indexes: new requests go to another one. */
  full(connection: Connection): void;
  /** It was full, so the request was not executed. True if the slot is taken away. */
  again(slot: Slot): boolean;
  /** The connection has ended. The slots are to be sent on another one. */
  ended(connection: Connection, unsent: Slot[], end: End): void;
  /** Something is in flight: the deadlines have to be looked at. */
  busy(connection: Connection): void;
}

export interface End {
  readonly kind: 'lost' | 'protocol' | 'closed';
  readonly reason: string;
  readonly cause?: unknown;
}
