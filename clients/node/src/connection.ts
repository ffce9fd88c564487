// One socket that is connected: what is written to it, the requests that wait for its replies, and its open indexes.
// It never connects, never waits and never decides where a request goes; its channel does. Requests and replies are matched
// by their order alone.
import { giveAnswer } from './answer.js';
import { Awake, HAS_PROCESSORS } from './awake.js';
import { ReplyError, WrongReply, WrongValue } from './errors.js';
import { Gathered, readGroup } from './group-reply.js';
import { LineCutter } from './lines.js';
import type { RouteName } from './observe.js';
import { OpenIndexes } from './open-indexes.js';
import type { End, Owner } from './owner.js';
import { Piece } from './pieces.js';
import { Queue } from './queue.js';
import type { ErrorReply, Head } from './replies.js';
import { readError, readHead, readPairs } from './replies.js';
import { Kind, Place, Reads } from './slot.js';
import type { Slot } from './slot.js';
import type { Wire } from './wire.js';

// As measured: what the callers of one turn of the event loop ask for is written in their microtasks, but earlier if so much
// waits. So the server works while the rest is being encoded.
const FLUSH_AT = 64;
// Less is written, too, if it is one of so many parts of what is in flight. If all that were answered together also asked
// together, client and server would work in turns.
const LEAST_PART = 4;
const PARTS_IN_FLIGHT = 4;
// The most that is handed to the operating system at once. What is behind it is not sent yet.
const WRITE_AT_ONCE = 1 << 18;
const NEWLINE = 10;
/** The hello by which the client turns its options on. */
export const OPTIONS = new Kind('options', undefined, Reads.Nothing, false);

export class Connection {
  private readonly sent = new Queue<Slot>();
  private pending: Slot[] = [];
  private readonly indexes = new OpenIndexes(this);
  private readonly lines = new LineCutter();
  private readonly head: Head = { code: 0, count: 0, values: 0 };
  private readonly gathered = new Gathered();
  private readonly awake: Awake;
  private count = 0;
  private bytes = 0;
  private modifying = 0;
  private blocked = false;
  private scheduled = false;
  private referenced = true;
  private paused = false;
  private lastByteAt = performance.now();
  /** When the oldest request without a reply was sent, or an older one. */
  private waitingSince = 0;
  /** A reply to a caller has come. */
  answered = false;
  closed = false;
  /** When it ended, nothing was in flight. */
  wasIdle = false;
  /** Why it gets no new requests, and closes when nothing is in flight. */
  private retired: string | undefined;

  constructor(
    private readonly wire: Wire,
    /** The place of its address in the client's list. */
    readonly address: number,
    /** The peer in words. */
    readonly peer: string,
    private readonly owner: Owner,
    private readonly streams: boolean,
  ) {
    this.awake = new Awake(owner.limits.stayAwake && HAS_PROCESSORS && !streams);
    wire.onBytes = (chunk) => this.onBytes(chunk);
    wire.onEnd = (cause) => this.onEnd(cause);
  }

  get inFlight(): number {
    return this.count;
  }

  get bytesInFlight(): number {
    return this.bytes;
  }

  get route(): RouteName {
    return this.owner.route;
  }

  get hasWrites(): boolean {
    return this.modifying > 0;
  }

  fits(line: string): boolean {
    const { maxInFlight, maxInFlightBytes } = this.owner.limits;
    return this.count === 0 || (this.count < maxInFlight && this.bytes + line.length <= maxInFlightBytes);
  }

  /** Takes a slot behind those before it. It is written before anything else happens in this turn of the event loop. */
  enqueue(slot: Slot): void {
    if (slot.group === undefined) slot.opened = this.indexes.of(slot.definition);
    else {
      for (const one of slot.group) one.opened = this.indexes.of(one.definition);
      slot.opened = slot.group[0]!.opened;
    }
    slot.place = Place.Pending;
    this.awake.added(this.count);
    this.bytes += slot.bytes;
    this.count += 1;
    if (slot.modifies) this.modifying += 1;
    if (this.count === 1) this.owner.busy(this);
    this.push(slot);
  }

  /** A request of the client itself, which counts for no bound: a log-in. */
  push(slot: Slot): void {
    if (!this.referenced) {
      this.referenced = true;
      this.wire.socket.ref();
    }
    this.pending.push(slot);
    if (this.muchWaits()) {
      this.flush();
    } else if (!this.scheduled) {
      this.scheduled = true;
      queueMicrotask(this.flushLater);
    }
  }

  private muchWaits(): boolean {
    const waiting = this.pending.length;
    return waiting >= FLUSH_AT || (waiting >= LEAST_PART && waiting * PARTS_IN_FLIGHT >= this.count);
  }

  /** A request of the client itself that goes out together with the next one. */
  defer(slot: Slot): void {
    this.pending.push(slot);
  }

  private readonly flushLater = (): void => {
    this.scheduled = false;
    this.flush();
  };

  private flush(): void {
    const { pending } = this;
    if (this.blocked || this.closed || pending.length === 0) return;
    if (this.sent.length === 0) this.waitingSince = performance.now();
    let out = '';
    let taken = 0;
    let released = false;
    while (taken < pending.length && !this.blocked) {
      const slot = pending[taken++]!;
      if (slot.settled) {
        // Its caller has given up before anything of it was sent.
        this.release(slot);
        released = true;
        continue;
      }
      out += slot.text;
      slot.place = Place.Sent;
      this.sent.push(slot);
      if (out.length >= WRITE_AT_ONCE) {
        this.write(out);
        out = '';
      }
    }
    if (taken === pending.length) this.pending = [];
    else pending.splice(0, taken);
    if (out !== '') {
      this.write(out);
      this.awake.written();
    }
    // No reply tells those who wait for their turn.
    if (released) this.owner.room(this);
    if (this.count === 0) this.settleDown();
  }

  private write(out: string): void {
    const { counters } = this.owner;
    counters.socketWrites += 1;
    counters.bytesOut += out.length;
    this.wire.socket.write(out, 'latin1', this.onWritten);
    // If the operating system has not taken all of it, what comes behind waits here, where it can still be taken back.
    this.blocked = this.wire.socket.writableLength > 0;
  }

  private readonly onWritten = (): void => {
    if (!this.blocked || this.wire.socket.writableLength > 0) return;
    this.blocked = false;
    this.flush();
  };

  private onBytes(chunk: Buffer): void {
    if (this.closed) return;
    const { counters } = this.owner;
    counters.socketReads += 1;
    counters.bytesIn += chunk.length;
    this.lastByteAt = performance.now();
    this.awake.came();
    try {
      if (this.streams) this.takeInTurn(chunk);
      else this.lines.take(chunk, false, this.onLines);
    } catch (error) {
      if (!(error instanceof WrongReply)) throw error;
      this.wrong(error.message, undefined, chunk);
      return;
    }
    // Hooks may have closed it meanwhile.
    if (this.closed as boolean) return;
    if (this.lines.held > 0 && this.sent.length === 0) this.wrong('bytes came that nobody has asked for', undefined, chunk);
    else if (this.lines.held > this.owner.limits.maxReplyBytes)
      this.wrong('the reply is longer than max_reply_bytes', this.sent.first, chunk);
    else {
      this.owner.room(this);
      if (this.count === 0) this.settleDown();
    }
  }

  /** For a connection on which a reply may be read while it arrives. */
  private takeInTurn(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0 && !this.closed) {
      const slot = this.sent.first;
      if (slot?.sink === undefined) {
        rest = rest.subarray(this.lines.take(rest, true, this.onLines));
        continue;
      }
      let taken: number;
      try {
        taken = slot.sink.take(rest);
      } catch (error) {
        if (error instanceof WrongReply) this.wrong(error.message, slot, chunk);
        else if (error instanceof WrongValue) slot.failWith('decode', error.message, error.cause);
        else throw error;
        this.end({ kind: 'closed', reason: 'the iteration ended before its reply' });
        return;
      }
      rest = rest.subarray(taken);
      if (!slot.sink.done) continue;
      this.sent.shift();
      this.release(slot);
      this.owner.counters.replies += 1;
      this.answered = true;
      const { error } = slot.sink;
      if (error !== undefined) this.refuse(slot, error, 0);
      else slot.succeed(undefined, slot.sink.given, slot.sink.received);
    }
  }

  private readonly onLines = (lines: Buffer): void => {
    const piece = new Piece(lines);
    const { text } = piece;
    const { counters, limits } = this.owner;
    let from = 0;
    while (from < text.length && !this.closed) {
      const end = text.indexOf('\n', from);
      const slot = this.sent.first;
      if (slot === undefined) {
        this.wrong('a reply came that nobody has asked for', undefined, lines.subarray(from));
        return;
      }
      if (end - from + this.gathered.size > limits.maxReplyBytes) {
        this.wrong('the reply is longer than max_reply_bytes', slot, lines.subarray(from));
        return;
      }
      if (slot.group !== undefined && this.gathered.add(lines.subarray(from, end + 1)) <= slot.group.length) {
        from = end + 1;
        continue;
      }
      this.sent.shift();
      counters.replies += 1;
      try {
        if (slot.group === undefined) this.answer(slot, piece, from, end);
        else this.answerGroup(slot);
      } catch (error) {
        if (!(error instanceof WrongReply)) throw error;
        this.wrong(error.message, slot, lines.subarray(from));
        return;
      }
      from = end + 1;
    }
  };

  private answerGroup(slot: Slot): void {
    const bytes = this.gathered.takeAll();
    if (!this.isAwaited(slot)) return;
    const piece = new Piece(bytes);
    const error = readGroup(slot, piece, (member, from, end) => this.give(member, piece, from, end));
    if (error === undefined) slot.succeed(undefined, slot.group!.length, bytes.length);
    else this.refuse(slot, error, bytes.length, error.line);
  }

  private answer(slot: Slot, piece: Piece, from: number, end: number): void {
    if (slot.kind.own) this.answerOwn(slot, piece, from, end);
    else if (this.isAwaited(slot)) this.give(slot, piece, from, end);
  }

  /** A reply has come. Whether somebody still waits for it. */
  private isAwaited(slot: Slot): boolean {
    this.release(slot);
    this.answered = true;
    if (slot.settled) this.owner.counters.repliesDropped += 1;
    return !slot.settled;
  }

  private give(slot: Slot, piece: Piece, from: number, end: number): void {
    const error = giveAnswer(slot, piece, from, end, this.head);
    if (error !== undefined) this.refuse(slot, error, end - from + 1);
  }

  /** The reply to P, to a log-in, or to the option of a hello, whose error says only that the server does not have it. */
  private answerOwn(slot: Slot, piece: Piece, from: number, end: number): void {
    const head = readHead(piece, from, end);
    if (head.code === 0) {
      if (slot.kind === OPTIONS) readPairs(piece, head, end);
      else if (slot.opened !== undefined) this.indexes.succeeded();
      slot.succeed(undefined, 0, 0);
      return;
    }
    if (slot.kind === OPTIONS) return;
    const error = readError(piece, head, end);
    if (slot.opened === undefined) slot.fail(new ReplyError('log_in', error.code, error.text, false));
    else if (this.indexes.refused(slot.opened, error)) this.owner.full(this);
  }

  private refuse(slot: Slot, answered: ErrorReply, size: number, line = 0): void {
    const { code, text, told } = (slot.group === undefined ? slot.opened?.error : undefined) ?? answered;
    const opening = slot.openingError;
    if (opening?.isFull === true && !slot.settled && this.owner.again(slot)) return;
    const modifies = slot.modifies && opening === undefined;
    const error = new ReplyError('reply', code, text, modifies, line, told, slot.placeOf(text, line));
    if (error.retry === 'elsewhere' && !slot.settled && this.owner.elsewhere(slot, this)) return;
    slot.fail(error, size);
  }

  /** Forgets a slot that has been answered, or will not be sent. */
  private release(slot: Slot): void {
    if (slot.kind.own) return;
    this.bytes -= slot.bytes;
    this.count -= 1;
    if (slot.modifies) this.modifying -= 1;
  }

  private settleDown(): void {
    if (this.retired !== undefined && this.count === 0) this.end({ kind: 'closed', reason: this.retired });
  }

  /** No new requests: it closes when those in flight are answered. */
  retire(reason: string): void {
    this.retired = reason;
    this.settleDown();
  }

  /** Frees the caller at once. If the request was sent, its place stays, and its reply will be dropped. */
  giveUp(slot: Slot, kind: 'timeout' | 'cancelled', message: string, cause?: unknown): void {
    this.owner.counters.givenUp += 1;
    slot.failWith(kind, message, cause);
    if (slot.reads === Reads.Stream) this.end({ kind: 'closed', reason: 'the iteration was given up' });
  }

  sweep(now: number): boolean {
    if (this.closed) return false;
    let isAwaited = false;
    const look = (slot: Slot): void => {
      if (slot.deadline !== 0 && now >= slot.deadline && !slot.settled) this.giveUp(slot, 'timeout', 'there was no reply in time');
      isAwaited ||= !slot.settled && !slot.kind.own;
    };
    this.sent.forEach(look);
    this.pending.forEach(look);
    const silent = now - Math.max(this.lastByteAt, this.waitingSince);
    if (this.sent.length > 0 && !this.paused && silent > this.owner.limits.deadAfter) {
      this.end({ kind: 'lost', reason: `the server has been silent for ${this.owner.limits.deadAfter} ms` });
    }
    if (this.closed) return false;
    // While nobody waits for a reply, the connection does not keep the process alive.
    if (!isAwaited && this.referenced) {
      this.referenced = false;
      this.wire.socket.unref();
    }
    return this.count > 0 || this.sent.length > 0;
  }

  /** Stops reading, so that the server waits, until `resume`. */
  pause(): void {
    if (this.paused || this.closed) return;
    this.paused = true;
    this.wire.pause();
  }

  resume(): void {
    if (!this.paused || this.closed) return;
    this.paused = false;
    this.lastByteAt = performance.now();
    this.wire.resume();
  }

  /** Bytes that are no reply: nothing that follows can be trusted. */
  private wrong(message: string, slot: Slot | undefined, bytes: Buffer): void {
    const reason = message + this.hintOf(bytes);
    if (slot?.kind.own === true && slot.opened !== undefined) {
      // What stands behind P gets nothing better.
      this.sent.forEach((other) => {
        if (other.opened === slot.opened) other.failWith('protocol', reason);
      });
    } else slot?.failWith('protocol', reason);
    this.end({ kind: 'protocol', reason });
  }

  /** What else the port may be. */
  private hintOf(bytes: Buffer): string {
    if (looksLikeSql(bytes)) return `: this looks like the port of SQL (${this.peer})`;
    if (isTlsAlert(bytes)) return `: ${this.peer} wants TLS, and the option tls is off`;
    return ` (${this.peer})`;
  }

  private onEnd(cause: Error | undefined): void {
    // Such an alert has no end of a line.
    if (this.sent.length > 0 && this.lines.held > 0 && isTlsAlert(this.lines.rest)) {
      this.wrong('what came is no reply', this.sent.first, this.lines.rest);
    } else {
      this.end({ kind: 'lost', reason: cause?.message ?? 'the server closed the connection', cause });
    }
  }

  /** Ends the connection, and looks at each request in flight. */
  end(end: End): void {
    if (this.closed) return;
    this.closed = true;
    this.wasIdle = this.sent.length === 0;
    this.awake.stop();
    this.wire.destroy();
    const again: Slot[] = [];
    for (const slot of this.sent.takeAll()) {
      if (slot.settled) continue;
      const opening = slot.openingError;
      if (!slot.kind.own && opening !== undefined) this.refuse(slot, opening, 0, opening.line);
      else if (end.kind === 'closed') slot.failWith('closed', end.reason);
      else if (!slot.kind.own && !slot.modifies && slot.retries < this.owner.limits.retryReads && slot.reads !== Reads.Stream) {
        slot.retries += 1;
        again.push(slot);
      } else slot.failWith('lost', `the connection was lost: ${end.reason}`, end.cause);
    }
    for (const slot of this.pending) {
      if (slot.settled) continue;
      if (!slot.kind.own) again.push(slot);
      else slot.failWith('lost', `the connection was lost: ${end.reason}`, end.cause);
    }
    this.pending = [];
    this.count = 0;
    this.bytes = 0;
    this.modifying = 0;
    for (const slot of again) slot.again();
    this.owner.ended(this, again, end);
  }
}

/** The first packet of MariaDB's or MySQL's own protocol: a greeting of version 10, or an error. */
function looksLikeSql(bytes: Buffer): boolean {
  return bytes.length > 4 && bytes[3] === 0 && bytes[2] === 0 && (bytes[4] === NEWLINE || bytes[4] === 0xff);
}

/** What a port of TLS says when it is spoken to without: an alert in a record of TLS. */
function isTlsAlert(bytes: Buffer): boolean {
  return bytes.length > 4 && bytes[0] === 0x15 && bytes[1] === 3;
}
