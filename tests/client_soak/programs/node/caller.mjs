// A caller of the clients' soak. tests/client_soak/README.md says what it does.
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { HandlerSocketError, assign, range } from 'handlersocket2';
import { DONE, Ledger, UNDONE, UNSURE } from './ledger.mjs';
import { Random } from './random.mjs';

const OWNER = 'node';
const KEPT = { owner: 'string', caller: 'integer', number: 'integer', n: 'bigint', text: 'string' };
const LOG = { owner: 'string', caller: 'integer', number: 'integer' };
// With fewer live rows a caller inserts one.
const LIVE_ROWS = 8;
// The part of the key that IN is about, and how far behind all numbers the one is that is not there.
const NUMBER_PART = 2;
const FAR_BEHIND = 1000;
// No caller comes to so many rows.
const ALL_ROWS = 1_000_000;
// Milliseconds to wait after an error.
const PAUSE = 10;
const LETTERS = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ\t\n\0é😀'];
const LONGEST_TEXT = 60;
const LONGEST_TIMEOUT = 20;
// Rows begin with a number up to this one.
const FIRST_NUMBERS = 99;
// What faults may cause. Any other error is wrong.
const FAULTS = new Set(['lost', 'connect', 'timeout', 'cancelled', 'busy']);
const REPLIES = new Set(['lock', 'elsewhere', 'read_only', 'interrupted', 'limit', 'schema', 'server']);
// Errors with which nothing was sent.
const NOT_SENT = new Set(['connect', 'busy']);

// Each as often as its weight. Those that hurry have a short time-out.
const OPERATIONS = [
  [30, 'find'],
  [8, 'findAll'],
  [3, 'count'],
  [10, 'update'],
  [10, 'increment'],
  [5, 'fetchAndIncrement'],
  [5, 'delete'],
  [10, 'insertIntoLog'],
  [8, 'group'],
  [5, 'pipeline'],
  [3, 'iterate'],
  [3, 'find', 'in a hurry'],
  [3, 'increment', 'in a hurry'],
].flatMap(([weight, name, hurry]) => Array.from({ length: weight }, () => ({ name, hurry })));
const INSERT = { name: 'insert' };

/** A value on one line, for people. */
function shown(value) {
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}n` : part)) ?? String(value);
}

function plus({ n, text }, amount) {
  return { n: n + amount, text };
}

export class Caller {
  calls = 0;
  /** How many errors there were, by their kinds, and how many of them said that the call may have been executed. */
  errors = new Map();
  maybeExecuted = 0;
  ledger;
  #client;
  #number;
  #random;
  #kept;
  #log;
  #sayWrong;
  #operation;
  /** A part of the operation has failed. */
  #failed = false;

  /** `sayWrong` ends the program. */
  constructor(client, seed, number, sayWrong) {
    this.ledger = new Ledger(number);
    this.#client = client;
    this.#number = number;
    this.#random = new Random(`${seed} ${number}`);
    this.#kept = client.index({ table: 'kept', columns: KEPT });
    this.#log = client.index({ table: 'log', columns: LOG });
    this.#sayWrong = sayWrong;
  }

  /** Does one operation after the other until it is over. */
  async work(isOver) {
    while (!isOver()) {
      this.#operation = this.ledger.live.size < LIVE_ROWS ? INSERT : this.#random.one(OPERATIONS);
      this.#failed = false;
      const { name, hurry } = this.#operation;
      await this[name](hurry === undefined ? {} : { timeout: this.#random.between(1, LONGEST_TIMEOUT) });
      if (this.#failed) await sleep(PAUSE);
      else this.calls += 1;
    }
  }

  async insert() {
    const number = this.ledger.newNumber();
    const state = { n: BigInt(this.#random.between(0, FIRST_NUMBERS)), text: this.#text() };
    const { fate, value } = await this.#change(() => this.#kept.insert(this.#row(number, state)));
    if (fate === DONE) this.#expect(value, null);
    this.ledger.changed(number, state, fate);
  }

  async find(options) {
    const [number, state] = this.#anyRow();
    const { fate, value } = await this.#read(() => this.#kept.findOne(this.#key(number), options), options);
    if (fate === DONE) this.#expect(value, this.#row(number, state));
  }

  async findAll() {
    const live = this.#random.shuffled([...this.ledger.live]);
    const numbers = [...live.map(([number]) => number), this.ledger.next + FAR_BEHIND];
    const { fate, value } = await this.#read(() => this.#kept.findIn(numbers, { key: this.#key(0), part: NUMBER_PART }));
    if (fate !== DONE) return;
    this.#expect(value.length, live.length);
    for (const [place, [number, state]] of live.entries()) this.#expect(value[place], this.#row(number, state));
  }

  async count() {
    const values = [...this.ledger.live.keys(), this.ledger.next + FAR_BEHIND];
    const { fate, value } = await this.#read(() => this.#kept.count(this.#key(0), { in: { part: NUMBER_PART, values } }));
    if (fate === DONE) this.#expect(value, this.ledger.live.size);
  }

  async update() {
    const [number, state] = this.#anyRow();
    let text = this.#text();
    while (text === state.text) text = this.#text();
    await this.#changeRow(number, { ...state, text }, () => this.#kept.update(this.#key(number), { text }), 1);
  }

  async increment(options) {
    const [number, state] = this.#anyRow();
    const amount = this.#amount();
    const ask = () => this.#kept.increment(this.#key(number), { n: amount }, options);
    await this.#changeRow(number, plus(state, amount), ask, 1, options);
  }

  async fetchAndIncrement() {
    const [number, state] = this.#anyRow();
    const amount = this.#amount();
    const before = [this.#row(number, state)];
    await this.#changeRow(number, plus(state, amount), () => this.#kept.fetchAndIncrement(this.#key(number), { n: amount }), before);
  }

  async delete() {
    const [number] = this.#anyRow();
    await this.#changeRow(number, null, () => this.#kept.delete(this.#key(number)), 1);
  }

  async insertIntoLog() {
    const number = this.ledger.newLogNumber();
    const { fate, value } = await this.#change(() => this.#log.insert(this.#key(number)));
    if (fate === DONE) this.#expectId(value);
    this.ledger.logged(number, fate);
  }

  /** Takes from one row, gives it to another, and logs that. */
  async group() {
    const amount = this.#amount();
    const logNumber = this.ledger.newLogNumber();
    const [[less, lessBefore], [more, moreBefore]] = this.#random.shuffled([...this.ledger.live]);
    const after = new Map([
      [less, plus(lessBefore, -amount)],
      [more, plus(moreBefore, amount)],
    ]);
    // It takes by an assignment, because a decrement leaves a row as it is that would cross zero.
    const requests = (on) => [
      on.some(this.#kept).update(this.#key(less), { n: assign.subtract(amount) }),
      on.some(this.#kept).increment(this.#key(more), { n: amount }),
      on(this.#log).insert(this.#key(logNumber)),
    ];
    const { fate, value } = await this.#change(() => this.#client.group(requests));
    if (fate === UNSURE) {
      this.ledger.doubtAll(after, logNumber);
      return;
    }
    if (fate === DONE) {
      this.#expect(value.slice(0, 2), [1, 1]);
      this.#expectId(value[2]);
    }
    for (const [number, state] of after) this.ledger.changed(number, state, fate);
    this.ledger.logged(logNumber, fate);
  }

  async pipeline() {
    const logNumber = this.ledger.newLogNumber();
    const live = [...this.ledger.live];
    const middle = Math.floor(live.length / 2);
    const settled = await this.#client.pipeline((on) => {
      const requests = live.map(([number]) => on(this.#kept).findOne(this.#key(number)));
      requests.splice(middle, 0, on(this.#log).insert(this.#key(logNumber)));
      return requests;
    });
    const [inserted] = settled.splice(middle, 1);
    for (const [place, [number, state]] of live.entries()) {
      if (this.#fate(settled[place].reason, false) === DONE) this.#expect(settled[place].value, this.#row(number, state));
    }
    const fate = this.#fate(inserted.reason, true);
    if (fate === DONE) this.#expectId(inserted.value);
    this.ledger.logged(logNumber, fate);
  }

  async iterate() {
    const possible = this.ledger.possible();
    let last = -1;
    const begin = range({ key: [OWNER, this.#number], ge: 0 });
    try {
      for await (const row of this.#kept.iterate(begin, { limit: ALL_ROWS })) {
        if (!(row.number > last)) this.#wrong(`${shown(row)} came behind the number ${last}`);
        last = row.number;
        const states = (possible.get(last) ?? []).filter((state) => state !== null).map((state) => this.#row(last, state));
        if (!states.some((state) => isDeepStrictEqual(row, state))) this.#wrong(`${shown(row)} came, which is not one of ${shown(states)}`);
        possible.delete(last);
      }
    } catch (error) {
      this.#fate(error, false);
      return;
    }
    for (const [number, states] of possible) {
      if (!states.includes(null)) this.#wrong(`the row ${number} is missing`);
    }
  }

  /** A change of one live row, which becomes `after` by it. */
  async #changeRow(number, after, ask, wanted, options) {
    const { fate, value } = await this.#change(ask, options);
    if (fate === DONE) this.#expect(value, wanted);
    this.ledger.changed(number, after, fate);
  }

  #change(ask, options) {
    return this.#call(ask, options, true);
  }

  #read(ask, options) {
    return this.#call(ask, options, false);
  }

  /** Makes a call. The result says what has become of it, and has its value. */
  async #call(ask, options, modifies) {
    const began = performance.now();
    try {
      return { fate: DONE, value: await ask() };
    } catch (error) {
      const waited = performance.now() - began;
      if (error.kind === 'timeout' && waited < options?.timeout)
        this.#wrong(`the time-out of ${options.timeout} ms came after ${waited} ms`);
      return { fate: this.#fate(error, modifies) };
    }
  }

  /** Judges the error of a call, if there is one, and counts it. */
  #fate(error, modifies) {
    if (error === undefined) return DONE;
    const isFault = error instanceof HandlerSocketError && (error.kind === 'reply' ? REPLIES.has(error.reason) : FAULTS.has(error.kind));
    if (!isFault) this.#wrong(`a result or the error of a fault was expected, and ${shown(String(error?.stack))} came`);
    const { kind, sent, maybeExecuted, safeToRetry } = error;
    if (maybeExecuted === safeToRetry) this.#wrong(`${error} both may have been executed and is safe to retry, or neither`);
    if (maybeExecuted && (!modifies || !sent || NOT_SENT.has(kind))) this.#wrong(`${error} cannot have been executed`);
    this.#failed = true;
    this.errors.set(kind, (this.errors.get(kind) ?? 0) + 1);
    if (!maybeExecuted) return UNDONE;
    this.maybeExecuted += 1;
    return UNSURE;
  }

  #wrong(words) {
    const { name, hurry } = this.#operation;
    this.#sayWrong(`caller ${this.#number}, ${name}${hurry === undefined ? '' : ` ${hurry}`}: ${words}`);
  }

  #expect(came, wanted) {
    if (!isDeepStrictEqual(came, wanted)) this.#wrong(`${shown(wanted)} was expected, and ${shown(came)} came`);
  }

  #expectId(came) {
    if (typeof came !== 'bigint' || came <= 0n) this.#wrong(`an AUTO_INCREMENT value was expected, and ${shown(came)} came`);
  }

  #anyRow() {
    return this.#random.one([...this.ledger.live]);
  }

  #amount() {
    return BigInt(this.#random.between(1, 9));
  }

  #text() {
    return Array.from({ length: this.#random.between(0, LONGEST_TEXT) }, () => this.#random.one(LETTERS)).join('');
  }

  #key(number) {
    return [OWNER, this.#number, number];
  }

  #row(number, state) {
    return { owner: OWNER, caller: this.#number, number, ...state };
  }
}
