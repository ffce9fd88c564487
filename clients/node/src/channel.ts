// One connection of a route as callers see it: it is made when a request needs it, and made again when it was lost. The
// channel owns what waits for it, the back-off between attempts, and the connections that finish what they owe elsewhere.
import type { Port } from './addresses.js';
import type { Connection } from './connection.js';
import type { Core } from './core.js';
import { dial, DialError } from './dial.js';
import type { Dialing } from './dial.js';
import { HandlerSocketError, ReplyError } from './errors.js';
import type { Counters, RouteName } from './observe.js';
import type { End, Limits, Owner } from './owner.js';
import { Queue } from './queue.js';
import type { Slot } from './slot.js';

export class Channel implements Owner {
  private connection: Connection | undefined;
  private readonly retired = new Set<Connection>();
  private readonly waiting = new Queue<Slot>();
  private waitingBytes = 0;
  private connecting = false;
  private dialing: Dialing | undefined;
  private backoff: NodeJS.Timeout | undefined;
  /** Attempts that failed in succession, and when the next one may begin. */
  private failures = 0;
  private notBefore = 0;
  private closed = false;

  constructor(
    private readonly core: Core,
    readonly route: RouteName,
    readonly port: Port,
  ) {}

  get limits(): Limits {
    return this.core.settings;
  }

  get counters(): Counters {
    return this.core.observer.counters;
  }

  /** Requests without a reply. */
  get load(): number {
    return this.waiting.length + (this.connection?.inFlight ?? 0);
  }

  get inFlight(): number {
    let count = this.connection?.inFlight ?? 0;
    for (const connection of this.retired) count += connection.inFlight;
    return count;
  }

  /** A modification has no reply yet. */
  get hasWrites(): boolean {
    let found = this.connection?.hasWrites === true;
    // One to a former address has them until it has answered.
    for (const connection of this.retired) found ||= connection.hasWrites;
    if (found) return true;
    this.waiting.forEach((slot) => (found ||= slot.modifies && !slot.settled));
    return found;
  }

  submit(slot: Slot): void {
    if (this.core.settings.whenFull !== 'fail' || this.hasRoom(slot) || !this.isFull([slot])) this.place(slot);
    else slot.failWith('busy', 'too much is in flight (max_in_flight, max_in_flight_bytes)');
  }

  /** Also a slot that has had a place before: it waits if there is no room. */
  place(slot: Slot): void {
    if (this.hasRoom(slot)) this.connection!.enqueue(slot);
    else this.wait(slot);
  }

  /** Slots that stay neighbours. */
  submitAll(slots: readonly Slot[]): void {
    if (this.core.settings.whenFull === 'fail' && this.load > 0 && this.isFull(slots)) {
      for (const slot of slots) slot.failWith('busy', 'too much is in flight (max_in_flight, max_in_flight_bytes)');
      return;
    }
    for (const slot of slots) this.place(slot);
  }

  private hasRoom(slot: Slot): boolean {
    return this.connection !== undefined && this.waiting.length === 0 && this.connection.fits(slot.line);
  }

  private isFull(slots: readonly Slot[]): boolean {
    const { maxInFlight, maxInFlightBytes } = this.core.settings;
    if (this.load === 0 && slots.length === 1) return false;
    const bytes = slots.reduce((sum, slot) => sum + slot.line.length, this.waitingBytes + (this.connection?.bytesInFlight ?? 0));
    return this.load + slots.length > maxInFlight || bytes > maxInFlightBytes;
  }

  private wait(slot: Slot): void {
    this.waiting.push(slot);
    this.waitingBytes += slot.line.length;
    this.core.sweeper.add(this);
    if (this.connection !== undefined) return;
    if (this.connecting) this.keepAlive(true);
    else this.connect();
  }

  private takeWaiting(): void {
    const slot = this.waiting.shift();
    if (slot !== undefined) this.waitingBytes -= slot.line.length;
  }

  /** Hands over what waits, as far as there is room. */
  private pump(): void {
    for (let slot = this.waiting.first; slot !== undefined; slot = this.waiting.first) {
      const { connection } = this;
      if (slot.settled) {
        this.takeWaiting();
      } else if (connection === undefined) {
        return;
      } else if (connection.fits(slot.line)) {
        this.takeWaiting();
        connection.enqueue(slot);
      } else {
        return;
      }
    }
  }

  // Making the connection.

  private connect(): void {
    if (this.connecting || this.closed) return;
    this.connecting = true;
    const delay = this.notBefore - performance.now();
    if (delay > 0) this.backoff = setTimeout(() => void this.attempt(), delay);
    else void this.attempt();
  }

  /** Tries each address once. */
  private async attempt(): Promise<void> {
    const { addresses, settings } = this.core;
    const tried = new Set<number>();
    let reason: DialError | undefined;
    while (!this.closed && this.isWanted()) {
      const place = addresses.pick(this.port, tried);
      if (place < 0) {
        this.failed(reason ?? new DialError('there is no address', true));
        return;
      }
      tried.add(place);
      this.dialing = dial(addresses.list[place]!, place, this.port, this.route === 'stream', settings, this);
      try {
        const made = await this.dialing.connection;
        this.dialing = undefined;
        // It may have ended in the same bytes in which its log-in was answered.
        if (made.closed && !this.closed) throw new DialError('the connection ended as soon as it was made', false);
        // A log-in takes a moment. Meanwhile another channel may have learned that this address is not the right one.
        if (this.closed || (addresses.target(this.port) !== place && !tried.has(addresses.target(this.port)))) {
          made.end({ kind: 'closed', reason: 'requests go to another address now' });
          continue;
        }
        this.made(made);
        return;
      } catch (error) {
        this.dialing = undefined;
        if (this.closed) return;
        const last = error instanceof DialError ? error : new DialError(String(error), true, undefined, error);
        // The first that lasts is what has to be mended.
        if (reason?.lasting !== true) reason = last;
        if (addresses.failed(this.port, place)) this.core.movedFrom(place, this.route, last.message);
      }
    }
    this.connecting = false;
  }

  private isWanted(): boolean {
    this.waiting.filter((slot) => !slot.settled);
    return this.waiting.length > 0;
  }

  private made(connection: Connection): void {
    this.connecting = false;
    this.connection = connection;
    this.counters.connectionsMade += 1;
    this.core.addresses.reached(this.port, connection.address);
    this.core.sweeper.add(connection);
    this.core.observer.connection({ event: 'connected', route: this.route, address: connection.peer, reason: null, nextAttemptInMs: null });
    this.pump();
  }

  /** The attempt is over. Who has waited for too many gets the reason. */
  private failed(error: DialError): void {
    const delay = this.countFailure();
    const place = this.core.addresses.target(this.port);
    this.core.observer.connection({
      event: 'attempt_failed',
      route: this.route,
      address: this.core.nameOf(place, this.port),
      reason: error.message,
      nextAttemptInMs: delay,
    });
    const rest: Slot[] = [];
    for (const slot of this.waiting.takeAll()) {
      slot.attempts += 1;
      if (slot.settled) continue;
      if (error.lasting || slot.attempts >= this.core.settings.connectAttempts) slot.fail(failureOf(error));
      else rest.push(slot);
    }
    this.waiting.pushFront(rest);
    this.recount();
    this.connecting = false;
    if (rest.length > 0) this.connect();
  }

  private countFailure(): number {
    const { backoffMin, backoffMax } = this.core.settings;
    this.failures += 1;
    const delay = Math.random() * Math.min(backoffMax, backoffMin * 2 ** Math.min(this.failures - 1, 30));
    this.notBefore = performance.now() + delay;
    return delay;
  }

  private recount(): void {
    this.waitingBytes = 0;
    this.waiting.forEach((slot) => (this.waitingBytes += slot.line.length));
  }

  // What connections say.

  room(connection: Connection): void {
    if (connection.answered) this.failures = 0;
    if (this.waiting.length > 0 && connection === this.connection) this.pump();
  }

  busy(connection: Connection): void {
    this.core.sweeper.add(connection);
  }

  elsewhere(slot: Slot, connection: Connection): boolean {
    return this.core.elsewhere(slot, connection, this);
  }

  ended(connection: Connection, unsent: Slot[], end: End): void {
    this.core.sweeper.remove(connection);
    const wasCurrent = connection === this.connection;
    if (wasCurrent) this.connection = undefined;
    const known = wasCurrent || this.retired.delete(connection);
    const idle = end.kind === 'lost' && unsent.length === 0 && connection.wasIdle;
    if (known) {
      if (end.kind !== 'closed' && !idle) this.counters.connectionsLost += 1;
      const event = end.kind === 'protocol' ? 'protocol_error' : end.kind === 'closed' || idle ? 'closed' : 'lost';
      this.core.observer.connection({ event, route: this.route, address: connection.peer, reason: end.reason, nextAttemptInMs: null });
    }
    if (this.closed) {
      for (const slot of unsent) slot.failWith('closed', 'the client is closed');
      return;
    }
    // One that has not answered anybody would be made again and again.
    if (wasCurrent && !connection.answered && end.kind !== 'closed') {
      this.countFailure();
      // Its server may be frozen, and take connections all the same.
      const { address } = connection;
      if (!idle && this.core.addresses.failed(this.port, address)) this.core.movedFrom(address, this.route, end.reason);
    }
    if (unsent.length > 0) {
      this.waiting.pushFront(unsent);
      this.recount();
      this.core.sweeper.add(this);
    }
    if (this.connection !== undefined) this.pump();
    else if (this.waiting.length > 0) this.connect();
  }

  /** Requests go to another address from now on. */
  leave(place: number): void {
    const { connection } = this;
    if (connection === undefined || connection.address !== place) return;
    this.retire(connection, 'requests go to another address now');
  }

  full(connection: Connection): void {
    if (connection === this.connection) this.retire(connection, 'it can open no more indexes');
  }

  again(slot: Slot): boolean {
    if (this.closed || slot.leftFull) return false;
    slot.leftFull = true;
    slot.again();
    this.place(slot);
    return true;
  }

  private retire(connection: Connection, reason: string): void {
    this.connection = undefined;
    this.retired.add(connection);
    connection.retire(reason);
    if (this.waiting.length > 0) this.connect();
  }

  sweep(now: number): boolean {
    let some = false;
    this.waiting.forEach((slot) => {
      if (slot.settled) some = true;
      else if (slot.deadline !== 0 && now >= slot.deadline) {
        some = true;
        this.counters.givenUp += 1;
        slot.failWith(
          'timeout',
          this.connection === undefined ? 'there was no connection in time' : 'the turn of the request did not come in time',
        );
      }
    });
    if (some) {
      this.waiting.filter((slot) => !slot.settled);
      this.recount();
    }
    if (this.waiting.length > 0) return true;
    this.keepAlive(false);
    return false;
  }

  /** An attempt for which nobody waits any more goes on, but does not keep the process alive. */
  private keepAlive(keeps: boolean): void {
    this.dialing?.keepAlive(keeps);
    if (keeps) this.backoff?.ref();
    else this.backoff?.unref();
  }

  get isOpen(): boolean {
    return this.connection !== undefined;
  }

  /** Ends everything at once. */
  close(reason = 'the client is closed'): void {
    if (this.closed) return;
    this.closed = true;
    clearTimeout(this.backoff);
    this.dialing?.cancel();
    const end: End = { kind: 'closed', reason };
    for (const connection of [this.connection, ...this.retired]) connection?.end(end);
    for (const slot of this.waiting.takeAll()) {
      slot.failWith('closed', end.reason);
    }
    this.waitingBytes = 0;
  }
}

function failureOf(error: DialError): HandlerSocketError {
  const { refusal } = error;
  if (refusal instanceof ReplyError) return new ReplyError('log_in', refusal.code, refusal.text, false);
  // The log-in was sent, but nothing of the call.
  if (refusal !== undefined) return new HandlerSocketError('protocol', refusal.message, undefined, error.cause);
  return new HandlerSocketError('connect', `no connection: ${error.message}`, undefined, error.cause ?? error);
}
