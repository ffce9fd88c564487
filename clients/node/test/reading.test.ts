// Replies are read right wherever their bytes are cut, and no bytes make the reader do anything but end the connection.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { columnOf } from '../src/column-types.js';
import { Connection } from '../src/connection.js';
import type { End, Owner } from '../src/owner.js';
import { Definition } from '../src/definition.js';
import { WrongReply } from '../src/errors.js';
import { Observer } from '../src/observe.js';
import { RowCutter } from '../src/row-cutter.js';
import { Kind, Reads, Slot } from '../src/slot.js';
import { bytesToken } from '../src/tokens.js';
import type { Wire } from '../src/wire.js';
import { Random, SEED } from './random.js';

const ROUNDS = 150;
const SHAPE = { columns: [columnOf('a', 'bytes?'), columnOf('b', 'string?'), columnOf('c', 'bigint?')], named: true };

type Row = { a: Buffer | null; b: string | null; c: bigint | null };

const TEXTS = ['', 'x', 'user_42@example.com', 'é', 'grün und größer als dreizehn', '\0', '\t\n\x01', '\u{1f600}', 'a'.repeat(300)];

function randomRow(random: Random): Row {
  const a =
    random.below(5) === 0 ? null : Buffer.from(Array.from({ length: random.below(20) }, () => random.below(random.one([16, 128, 256]))));
  const b = random.below(5) === 0 ? null : random.one(TEXTS);
  const c = random.below(5) === 0 ? null : BigInt(random.below(1000)) * random.one([1n, -1n, 10n ** 17n]);
  return { a, b, c };
}

function tokensOf({ a, b, c }: Row): string {
  const tokens = [a, b === null ? null : Buffer.from(b), c === null ? null : Buffer.from(String(c))];
  return tokens.map((token) => `\t${token === null ? '\0' : bytesToken(token)}`).join('');
}

/** A connection whose other side is this test. */
class Played implements Owner {
  readonly route = 'read';
  readonly limits = { maxInFlight: 10_000, maxInFlightBytes: 1 << 24, maxReplyBytes: 1 << 20, deadAfter: 60_000, retryReads: 0 };
  readonly counters = new Observer(undefined, undefined).counters;
  readonly wire = {
    socket: { write: () => true, writableLength: 0, ref: () => undefined, unref: () => undefined },
    onBytes: (_: Buffer): void => undefined,
    onEnd: (): void => undefined,
    destroy: (): void => undefined,
    pause: (): void => undefined,
    resume: (): void => undefined,
  };
  readonly connection = new Connection(this.wire as unknown as Wire, 0, 'played', this, false);
  end: End | undefined;

  room(): void {}
  busy(): void {}
  elsewhere(): boolean {
    return false;
  }
  ended(_: Connection, __: Slot[], end: End): void {
    this.end = end;
  }

  ask(definition: Definition): Promise<unknown> {
    const slot = new Slot(new Kind('find', definition, Reads.Rows, false, SHAPE), '\t=\t1\t1\n');
    const promise = new Promise((resolve, reject) => {
      slot.resolve = resolve;
      slot.reject = reject;
    });
    promise.catch(() => undefined);
    this.connection.enqueue(slot);
    return promise;
  }

  /** As a socket hands over bytes: in a buffer that is used again. */
  receive(pieces: Buffer[]): void {
    for (const piece of pieces) {
      const copy = Buffer.from(piece);
      this.wire.onBytes(copy);
      copy.fill(0xff);
    }
  }
}

const DEFINITION = new Definition('db', 't', 'PRIMARY', ['a', 'b', 'c'], []);

suite(`the seed is HS_SEED=${SEED}`, () => {
  const random = new Random(SEED);

  test('replies cut anywhere', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const played = new Played();
      const expected = Array.from({ length: 1 + random.below(30) }, () => Array.from({ length: random.below(4) }, () => randomRow(random)));
      const promises = expected.map(() => played.ask(DEFINITION));
      await Promise.resolve();
      const stream = `0\t1\n${expected.map((rows) => `0\t3${rows.map(tokensOf).join('')}\n`).join('')}`;
      played.receive(random.cut(Buffer.from(stream, 'latin1'), random.one([1, 3, 40, 5000])));
      assert.deepEqual(await Promise.all(promises), expected);
      assert.equal(played.end, undefined);
    }
  });

  test('a large reply row by row, cut anywhere', () => {
    for (let round = 0; round < ROUNDS; round++) {
      const expected = Array.from({ length: random.below(40) }, () => randomRow(random));
      const stream = Buffer.from(`0\t3${expected.map(tokensOf).join('')}\nbehind it`, 'latin1');
      const cutter = new RowCutter(SHAPE, 1 << 20);
      const rows: unknown[] = [];
      let left = '';
      for (const piece of random.cut(stream, random.one([1, 3, 40, 5000]))) {
        const taken = cutter.done ? 0 : cutter.take(Buffer.from(piece), (row) => rows.push(row));
        left += piece.subarray(taken).toString('latin1');
      }
      assert.deepEqual(rows, expected);
      assert.equal(left, 'behind it');
    }
  });

  test('rows that are larger than what is read at once', () => {
    const expected = Array.from({ length: 5 }, (_, i) => ({ a: Buffer.alloc(300_000 * (i % 3), i), b: 'x', c: BigInt(i) }));
    const stream = Buffer.from(`0\t3${expected.map(tokensOf).join('')}\n`, 'latin1');
    const cutter = new RowCutter(SHAPE, 1 << 22);
    const rows: unknown[] = [];
    for (let at = 0; at < stream.length; at += 16_000) cutter.take(stream.subarray(at, at + 16_000), (row) => rows.push(row));
    assert.deepEqual(rows, expected);
    assert.ok(cutter.done);
  });

  test('any bytes: a row, an error of the protocol, or nothing yet', async () => {
    const alphabet = [...'0123\t\n\0\x01@I\x80x'].map((character) => character.charCodeAt(0));
    for (let round = 0; round < ROUNDS * 3; round++) {
      const noise = Buffer.from(Array.from({ length: random.below(60) }, () => random.one(alphabet)));
      const played = new Played();
      const promises = Array.from({ length: 5 }, () => played.ask(DEFINITION));
      await Promise.resolve();
      played.receive(random.cut(noise, 7));
      played.connection.end({ kind: 'lost', reason: 'the test is over' });
      for (const ending of await Promise.allSettled(promises)) {
        if (ending.status === 'rejected') assert.match((ending.reason as { kind: string }).kind, /^(protocol|lost|reply|decode)$/);
      }
      try {
        for (const piece of random.cut(noise, 7)) new RowCutter(SHAPE, 1 << 20).take(piece, () => undefined);
      } catch (error) {
        assert.ok(error instanceof WrongReply || /column|NULL/.test((error as Error).message), String(error));
      }
    }
  });

  test('after a value that does not fit, the rest of its reply is checked', async () => {
    const results = [];
    for (const [line, end] of [
      ['0\t3\tx\ty\tz\n', undefined],
      ['0\t3\tx\ty\tz\tx\ty\t7\n', undefined],
      ['0\t3\tx\ty\tz\tx\ty\n', 'protocol'],
      ['0\t3\tx\ty\tz\t\x01z\ty\t7\n', 'protocol'],
    ] as const) {
      const played = new Played();
      const [first, second] = [played.ask(DEFINITION), played.ask(DEFINITION)];
      await Promise.resolve();
      played.receive([Buffer.from(`0\t1\n${line}0\t3\n`, 'latin1')]);
      assert.equal(played.end?.kind, end);
      results.push(await first.catch((error: unknown) => (error as { kind: string }).kind));
      results.push(await second.catch((error: unknown) => (error as { kind: string }).kind));
    }
    assert.deepEqual(results, ['decode', [], 'decode', [], 'protocol', 'lost', 'protocol', 'lost']);
  });
});
