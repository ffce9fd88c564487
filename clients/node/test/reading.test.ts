// Replies are read right wherever their bytes are cut, and no bytes make the reader do anything but end the connection.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { columnOf } from '../src/column-types.js';
import { Connection, OPTIONS } from '../src/connection.js';
import { Definition } from '../src/definition.js';
import type { Description } from '../src/description.js';
import { WrongReply } from '../src/errors.js';
import type { ReplyError } from '../src/errors.js';
import { Observer } from '../src/observe.js';
import type { End, Owner } from '../src/owner.js';
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
  readonly limits = { maxInFlight: 10_000, maxInFlightBytes: 1 << 24, maxReplyBytes: 1 << 20, deadAfter: 60_000, retryReads: 0, stayAwake: false };
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
  full(): void {}
  again(): boolean {
    return false;
  }
  ended(_: Connection, __: Slot[], end: End): void {
    this.end = end;
  }

  ask(definition: Definition): Promise<unknown> {
    return this.send(new Slot(new Kind('find', definition, Reads.Rows, false, SHAPE), '\t=\t1\t1\n'));
  }

  send(slot: Slot): Promise<unknown> {
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

  test('descriptions, hellos and errors with texts, cut anywhere', async () => {
    const part = { type: 'int(11)', nullable: false, unsigned: false, decimals: 0, charset: null };
    const line = '0\t7\tcolumn\tb\ttext\t1\t0\t0\tutf8mb4\tkey\ta\tint(11)\t0\t0\t0\t\0\n';
    const stream = Buffer.from(
      `0\t2\ttexts\t1\n0\t1\n${line}1\t4\t121\t1062\t23000\tDuplicate '\x01I\xc3\xa9'\n0\t2\tplugin\t2.0\n`,
      'latin1',
    );
    const one = new Definition('db', 't', 'PRIMARY', ['b'], []);
    for (let cut = 0; cut <= stream.length; cut++) {
      for (const pieces of [[stream.subarray(0, cut), stream.subarray(cut)], random.cut(stream, 5)]) {
        const played = new Played();
        played.connection.defer(new Slot(OPTIONS, 'H\ttexts\n'));
        const kinds = [new Kind('describe', one, Reads.Description, false), new Kind('find', one, Reads.Rows, false, SHAPE)];
        const asked = [...kinds, new Kind('hello', undefined, Reads.Pairs, false)].map((kind) => played.send(new Slot(kind, '\n')));
        await Promise.resolve();
        played.receive(pieces);
        const [description, error, hello] = await Promise.allSettled(asked);
        assert.deepEqual((description as PromiseFulfilledResult<unknown>).value, {
          ...{ database: 'db', table: 't', index: 'PRIMARY', filterColumns: [] },
          columns: [{ ...part, name: 'b', type: 'text', nullable: true, charset: 'utf8mb4' }],
          key: [{ ...part, name: 'a' }],
        });
        const { number, sqlState, serverMessage } = (error as PromiseRejectedResult).reason as ReplyError;
        assert.deepEqual([number, sqlState, serverMessage], [1062, '23000', "Duplicate '\té'"]);
        assert.deepEqual((hello as PromiseFulfilledResult<unknown>).value, new Map([['plugin', '2.0']]));
        assert.equal(played.end, undefined);
      }
    }
  });

  test('any bytes: a description, an error of the protocol, or nothing yet', async () => {
    const tokens = ['column', 'filter', 'key', 'b', 'int', '0', '1', '2', '7', '4', '\0', '', '\x01I', '\x01', '\n', '\x80', 'undone'];
    const one = new Definition('db', 't', 'PRIMARY', ['b'], []);
    for (let round = 0; round < ROUNDS * 3; round++) {
      const noise = Array.from({ length: random.below(40) }, () => random.one(tokens)).join('\t');
      const stream = Buffer.from(`${random.one(['0\t7\t', '0\t2\t', '1\t4\t', ''])}${noise}\n`, 'latin1');
      const played = new Played();
      played.connection.defer(new Slot(OPTIONS, 'H\ttexts\n'));
      const kinds = [new Kind('describe', one, Reads.Description, false), new Kind('hello', undefined, Reads.Pairs, false)];
      const asked = kinds.map((kind) => played.send(new Slot(kind, '\n')));
      await Promise.resolve();
      played.receive(
        random.cut(Buffer.concat([Buffer.from(random.one(['0\t1\n0\t1\n', '0\t2\n0\t1\n', '2\t1\tcmd\n0\t1\n'])), stream]), 7),
      );
      played.connection.end({ kind: 'lost', reason: 'the test is over' });
      for (const ending of await Promise.allSettled(asked)) {
        if (ending.status === 'rejected') assert.match((ending.reason as { kind: string }).kind, /^(protocol|lost|reply)$/);
        else if (ending.value instanceof Map) assert.ok([...ending.value].flat().every((text) => typeof text === 'string'));
        else
          assert.deepEqual(
            (ending.value as Description).columns.map(({ name }) => name),
            ['b'],
          );
      }
    }
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
