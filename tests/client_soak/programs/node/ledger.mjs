// What a caller knows of its rows in `kept`, and of its numbers in `log`. A state is what a row has besides its key: { n, text }, or
// null for no such row.

/** What has become of a call. */
export const DONE = 'done';
/** It failed, and has changed nothing. */
export const UNDONE = 'undone';
/** It failed, and may have been executed. */
export const UNSURE = 'unsure';

function toReport(state) {
  return state === null ? null : [Number(state.n), state.text];
}

export class Ledger {
  /** The states of live rows by their numbers. */
  live = new Map();
  /** The rows of which one of two states is true: by their numbers, [before, after]. Nobody uses them again. */
  #doubts = new Map();
  /** The groups that were executed as a whole or not at all: their rows by their numbers, and the number in `log`. */
  #joint = [];
  #caller;
  #tries = 0;
  #refused = [];
  #perhaps = [];
  /** The first number that was never used. */
  next = 0;

  constructor(caller) {
    this.#caller = caller;
  }

  newNumber() {
    return this.next++;
  }

  newLogNumber() {
    return this.#tries++;
  }

  /** Notes what has become of a change of a row, of which the state before is null if it is a new one. */
  changed(number, after, fate) {
    if (fate === UNDONE) return;
    if (fate === UNSURE) this.#doubts.set(number, [this.live.get(number) ?? null, after]);
    if (fate === DONE && after !== null) this.live.set(number, after);
    else this.live.delete(number);
  }

  /** Notes what has become of a number that was to come into `log`. */
  logged(number, fate) {
    if (fate === UNDONE) this.#refused.push(number);
    if (fate === UNSURE) this.#perhaps.push(number);
  }

  /** Notes a group that may have been executed. `after` has the states of its rows by their numbers. */
  doubtAll(after, logNumber) {
    const rows = new Map([...after].map(([number, state]) => [number, [this.live.get(number), state]]));
    for (const number of after.keys()) this.live.delete(number);
    this.#joint.push({ rows, logNumber });
  }

  /** The states of each row that is there or may be, by their numbers. null is among them if it may be missing. */
  possible() {
    const live = [...this.live].map(([number, state]) => [number, [state]]);
    return new Map([...live, ...this.#doubts, ...this.#joint.flatMap(({ rows }) => [...rows])]);
  }

  // The parts of the report.

  rows() {
    const live = [...this.live].map(([number, state]) => [this.#caller, number, [toReport(state)]]);
    return [...live, ...[...this.#doubts].map(([number, states]) => [this.#caller, number, states.map(toReport)])];
  }

  log() {
    return [this.#caller, this.#tries, this.#refused, this.#perhaps];
  }

  joint() {
    return this.#joint.map(({ rows, logNumber }) => [
      ...[...rows].map(([number, states]) => [this.#caller, number, ...states.map(toReport)]),
      [this.#caller, logNumber],
    ]);
  }
}
