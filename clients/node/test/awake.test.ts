// For whom the event loop stays awake, and for how long.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, suite, test } from 'node:test';
import { Awake, HAS_PROCESSORS } from '../src/awake.js';
import { echo } from './answering-server.js';
import { row, using } from './client-kit.js';

suite('staying awake', () => {
  let clock = 0;
  let turns: (() => void)[] = [];
  let awake = new Awake(true);

  beforeEach(() => {
    turns = [];
    awake = new Awake(true);
    mock.method(performance, 'now', () => clock);
    mock.method(globalThis, 'setImmediate', (turn: () => void) => turns.push(turn));
  });
  afterEach(() => mock.restoreAll());

  /** The event loop turns once, and so many milliseconds go by. */
  const turn = (milliseconds = 0): void => {
    clock += milliseconds;
    for (const each of turns.splice(0)) each();
  };
  const ask = (others = 0): void => {
    awake.added(others);
    awake.written();
  };
  const answered = (): void => {
    awake.came();
    turn();
  };
  /** Asks until it is looked for, and says how many requests were not. */
  const untilALook = (): number => {
    for (let leftOut = 0; leftOut < 5000; leftOut++) {
      ask();
      if (turns.length > 0) return leftOut;
      awake.came();
    }
    return assert.fail('nothing was looked for');
  };

  test('only if the last eight requests were alone', () => {
    assert.equal(untilALook(), 7);
    answered();
    assert.equal(turns.length, 0);
    assert.equal(untilALook(), 0);
    answered();
    ask(1);
    assert.equal(turns.length, 0);
    assert.equal(untilALook(), 7);
  });

  test('until the reply has come, and at most 100 µs', () => {
    untilALook();
    for (let i = 0; i < 5; i++) {
      turn(0.015);
      assert.equal(turns.length, 1);
    }
    answered();
    assert.equal(turns.length, 0);
    ask();
    turn(0.099);
    assert.equal(turns.length, 1);
    turn(0.002);
    assert.equal(turns.length, 0);
  });

  test('not beside another request', () => {
    untilALook();
    ask(1);
    turn();
    assert.equal(turns.length, 0);
    // That was not in vain.
    assert.equal(untilALook(), 7);
  });

  test('after looks in vain more and more requests are left out, and one that succeeds is enough', () => {
    const leftOut = [];
    untilALook();
    for (let i = 0; i < 12; i++) {
      turn(0.2);
      awake.came();
      leftOut.push(untilALook());
    }
    assert.deepEqual(leftOut, [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024, 1024]);
    answered();
    assert.equal(untilALook(), 0);
    turn(0.2);
    assert.equal(untilALook(), 2);
  });

  test('not if the connection has ended, nor if it is not wanted', () => {
    untilALook();
    awake.stop();
    turn();
    assert.equal(turns.length, 0);
    awake = new Awake(false);
    for (let i = 0; i < 20; i++) ask();
    assert.equal(turns.length, 0);
  });
});

suite('a client', () => {
  for (const stayAwake of [true, false]) {
    test(`stays awake for a caller that is alone: ${stayAwake}`, async () => {
      await using(echo, { stayAwake }, async (client, _, rows) => {
        const asked = mock.method(globalThis, 'setImmediate');
        try {
          for (let id = 0; id < 50; id++) assert.deepEqual(await rows.findOne(id), row(id));
          assert.equal(asked.mock.callCount() > 0, stayAwake && HAS_PROCESSORS);
          // Nothing of it is left.
          await new Promise((resolve) => setTimeout(resolve, 5));
          const before = asked.mock.callCount();
          await new Promise((resolve) => setTimeout(resolve, 5));
          assert.equal(asked.mock.callCount(), before);
          const abort = new AbortController();
          const call = rows.findOne(7, { signal: abort.signal });
          abort.abort();
          await assert.rejects(call, { kind: 'cancelled' });
          assert.deepEqual(await rows.findOne(8), row(8));
        } finally {
          asked.mock.restore();
        }
        assert.equal(client.counters.inFlight, 0);
      });
    });
  }
});
