// Groups: requests that are done as a whole or not at all. They are collected while the application names them, and sent as one.
import type { Core, Executor, RequestOptions } from './core.js';
import { ReplyError, usage } from './errors.js';
import type { HandlerSocketError } from './errors.js';
import { UNDONE } from './group-reply.js';
import { Index } from './handle.js';
import { Kind, Reads, Slot } from './slot.js';

/** The most requests of a group. */
export const MAX_GROUP = 4096;

/** What the requests of a group give. */
export type Results<T extends readonly unknown[]> = { -readonly [P in keyof T]: Awaited<T[P]> };

/** The calls of an index for a group. */
export interface On {
  <I>(index: I): I;
  /** For modifications that must meet a row: else nothing of the group is done. */
  some<I>(index: I): I;
  /** For modifications that must meet no row. */
  none<I>(index: I): I;
}

const ON_ROWS: ReadonlySet<string> = new Set(['update', 'delete', 'increment', 'decrement', 'lock']);

class Group {
  private readonly members = new Map<Promise<unknown>, Slot>();
  /** What its own `on` has given, also for requests that send nothing. */
  private readonly own = new Set<unknown>();
  private over = false;

  constructor(private readonly core: Core) {}

  executor(meets: string): Executor {
    const gave = (promise: Promise<unknown>): void => void this.own.add(promise);
    const run = (slot: Slot, options: RequestOptions | undefined): Promise<unknown> => {
      const promise = this.add(slot, options, meets);
      gave(promise);
      return promise;
    };
    return { core: this.core, inGroup: true, hasCondition: meets !== '', run, gave };
  }

  private add(slot: Slot, options: RequestOptions | undefined, meets: string): Promise<unknown> {
    if (this.over) return Promise.reject(usage('the group has been sent already'));
    if (options?.timeout !== undefined || options?.signal !== undefined || options?.within !== undefined) {
      return Promise.reject(usage('a group has one timeout, one signal and one within: the options of group()'));
    }
    if (meets !== '' && !ON_ROWS.has(slot.kind.operation)) {
      return Promise.reject(usage('some and none are for modifications of rows that are there'));
    }
    const promise = new Promise((resolve, reject) => {
      slot.resolve = resolve;
      slot.reject = reject;
    });
    slot.front = meets;
    this.members.set(promise, slot);
    return promise;
  }

  /** Sends what was named. The result is that of each. */
  async send(promises: readonly unknown[], options: RequestOptions | undefined): Promise<unknown[]> {
    this.over = true;
    let refused: unknown;
    for (const promise of promises) {
      if (!(promise instanceof Promise)) continue;
      // The error of another call is not that of the group, but nobody else may be looking at it.
      promise.catch((error: unknown) => (this.own.has(promise) ? (refused ??= error) : undefined));
    }
    // What cannot be meant was refused already, and says so now.
    await undefined;
    const error = refused ?? this.mistake(promises);
    if (error !== undefined) {
      this.abandon(error as HandlerSocketError);
      throw error;
    }
    if (this.members.size > 0) await this.core.run(this.whole(), options);
    return Promise.all(promises);
  }

  private mistake(promises: readonly unknown[]): HandlerSocketError | undefined {
    if (promises.length > MAX_GROUP) return usage(`a group has at most ${MAX_GROUP} requests`);
    const places = new Map<unknown, number>();
    for (const [place, element] of promises.entries()) {
      if (!this.own.has(element)) return usage(`element ${place} of the array of a group is no request that the group's own on has given`);
      if (!places.has(element)) places.set(element, place + 1);
    }
    for (const [promise, slot] of this.members) {
      slot.number = places.get(promise) ?? 0;
      if (slot.number === 0) return usage('the function of a group gives an array of all its requests');
    }
    return undefined;
  }

  private whole(): Slot {
    const members = [...this.members.values()].sort((a, b) => a.number - b.number);
    const kind = new Kind('group', members[0]!.definition, Reads.Group, true, undefined, false, this.core.observer.counters);
    return new GroupSlot(kind, members);
  }

  abandon(error: HandlerSocketError): void {
    this.over = true;
    for (const [promise, slot] of this.members) {
      promise.catch(() => undefined);
      slot.end(error);
    }
  }
}

class GroupSlot extends Slot {
  private readonly results: (() => void)[] = [];
  private readonly rejects: ((error: HandlerSocketError) => void)[] = [];
  /** The first result that does not fit its caller's types. */
  private unfit: HandlerSocketError | undefined;

  constructor(
    kind: Kind,
    override readonly group: readonly Slot[],
  ) {
    // What counts for the bounds. The numbers of the indexes are known later.
    super(kind, group.map((member) => member.front + member.line).join(''));
    for (const member of group) {
      // None has its result before all lines are known to be right.
      const { resolve, reject } = member;
      member.whole = this;
      member.resolve = (value) => this.results.push(() => resolve(value));
      member.reject = (error) => {
        this.unfit ??= error;
        this.results.push(() => reject(error));
      };
      this.rejects.push(reject);
    }
  }

  override succeed(value: unknown, rows: number, bytesIn: number): void {
    for (const give of this.results) give();
    // group() rejects with it, so that is what hooks are told and what is counted.
    if (this.unfit === undefined) super.succeed(value, rows, bytesIn);
    else super.fail(this.unfit, bytesIn);
  }

  override fail(error: HandlerSocketError, bytesIn?: number): void {
    if (this.settled) return;
    this.group.forEach((member, place) => {
      const isItself = !(error instanceof ReplyError) || error.line === 0 || error.line === member.number;
      member.settled = true;
      this.rejects[place]!(isItself ? error : new ReplyError('reply', 1, UNDONE, false, error.line));
    });
    super.fail(error, bytesIn);
  }
}

/** Runs the function that names the requests, and then these. */
export async function runGroup(core: Core, build: (on: On) => readonly unknown[], options: RequestOptions | undefined): Promise<unknown[]> {
  const group = new Group(core);
  const on = (meets: string) => {
    const executor = group.executor(meets);
    return <I>(index: I): I => Index.with(index, executor);
  };
  let promises: readonly unknown[];
  try {
    promises = build(Object.assign(on(''), { some: on('some\t'), none: on('none\t') }));
    if (!Array.isArray(promises)) throw usage('the function of a group gives an array of its requests');
  } catch (error) {
    group.abandon(usage('the function of the group failed, so it was not sent'));
    throw error;
  }
  return group.send(promises, options);
}
