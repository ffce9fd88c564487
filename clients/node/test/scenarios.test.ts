// Every scenario of scenarios.json, played against this client.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Address, Description, Duplicate, FilterOp, FindOp, Index, ListedIndex, Options, RequestOptions } from '../src/index.js';
import { Client, HandlerSocketError, ReplyError, range } from '../src/index.js';
import { PlayedPort, Signals, pause, within } from './played-server.js';
import type { Script } from './played-server.js';
import { bytes, describedOf, vectors } from './vectors.js';
import type { DescribedVector } from './vectors.js';

type Text = string | null | { repeat: string; times: number };

interface Find {
  index?: 'u';
  key: Text[];
  op?: FindOp | 'up' | 'down';
  answer?: 'count' | 'exists';
  limit?: number;
  offset?: number;
  in?: { key_part: number; values: Text[] };
  filters?: { kind: 'F' | 'W'; op: FilterOp; column: number; value: Text }[];
  modify?: { op: 'U' | 'D' | '+' | '-' | 'lock'; meets?: 'some' | 'none'; values?: Text[]; rows_before?: boolean };
}

interface Request {
  find?: Find;
  insert?: { index?: 'u'; values: Text[] };
  insert_rows?: { index?: 'u'; rows: Text[][]; else?: Duplicate };
  describe?: 't' | 'all';
  hello?: true;
  databases?: true;
  tables?: string;
  indexes?: [string, string];
  ping?: true;
}

interface Result {
  rows?: (string | null)[][];
  modified?: number;
  id?: number | null;
  count?: number;
  exists?: boolean;
  outcomes?: [string, number | null][];
  described?: DescribedVector;
  pairs?: [string, string][];
  names?: string[];
  listed?: ListedIndex[];
  pong?: true;
  error?: string | string[];
  sent?: boolean;
  maybe_executed?: boolean;
  code?: number;
  text?: string;
  kind?: string;
  line?: number;
  number?: number;
  sqlstate?: string;
  message?: string | null;
  after_ms?: number;
  within_ms?: number;
}

interface Step extends Request {
  call?: string;
  result?: string;
  cancel?: string;
  pipeline?: Request[];
  group?: Request[];
  iterate?: Find;
  take?: number;
  signal_after_first?: string;
  gives?: Result | Result[];
  timeout_ms?: number;
  server_ms?: number;
  close?: boolean;
  pause_ms?: number;
  signal?: string;
  await?: string;
}

interface Scenario {
  name: string;
  why: string;
  needs?: string;
  options?: Record<string, number | string>;
  cuts?: number[];
  servers: { read?: Script[] | null; write?: Script[] | null }[];
  steps: Step[];
}

interface Ending {
  value?: unknown;
  error?: unknown;
  milliseconds: number;
}

function valueOf(text: Text): Buffer | null {
  if (text === null) return null;
  return bytes(typeof text === 'string' ? text : text.repeat.repeat(text.times));
}

type Rows = Index<(Buffer | null)[], Record<string, Buffer | null>>;

class Application {
  private readonly calls = new Map<string, { ending: Promise<Ending>; abort: AbortController }>();
  private readonly indexes: { t: Rows; u: Rows };

  constructor(
    private readonly client: Client,
    private readonly signals: Signals,
  ) {
    const common = { database: 'db', rows: 'array' } as const;
    this.indexes = {
      t: client.index({ ...common, table: 't', columns: { a: 'bytes?', b: 'bytes?' } }) as unknown as Rows,
      u: client.index({ ...common, table: 'u', columns: { a: 'bytes?' } }) as unknown as Rows,
    };
  }

  private run(request: Request, common: RequestOptions, on: <I>(index: I) => I = (index) => index): Promise<unknown> {
    if (request.hello !== undefined) return this.client.hello(common);
    if (request.databases !== undefined) return this.client.databases(common);
    if (request.tables !== undefined) return this.client.tables(request.tables, common);
    if (request.indexes !== undefined) {
      const [database, table] = request.indexes;
      return this.client.indexes({ database, table }, common);
    }
    if (request.ping !== undefined) return this.client.ping(common);
    if (request.describe !== undefined) {
      return this.client.describe({ database: 'db', table: 't', ...(request.describe === 'all' ? {} : { columns: ['a', 'b'] }) }, common);
    }
    if (request.insert !== undefined)
      return on(this.indexes[request.insert.index ?? 't']).insert(request.insert.values.map(valueOf), common);
    if (request.insert_rows !== undefined) {
      const { index = 't', rows, else: duplicate } = request.insert_rows;
      const given = rows.map((row) => row.map(valueOf));
      return on(this.indexes[index]).insertMany(given, { ...common, duplicate });
    }
    const { index = 't', key, op: said, limit, offset, in: within_, modify, answer } = request.find!;
    const rows = on(this.indexes[index]);
    const isRange = said === 'up' || said === 'down';
    const values_ = key.map(valueOf) as Buffer[];
    const parts = isRange ? range({ key: values_, down: said === 'down' }) : values_;
    const op = isRange ? undefined : said;
    const within = within_ && { part: within_.key_part, values: within_.values.map(valueOf) as Buffer[] };
    const options = { ...common, op, limit, offset, in: within };
    if (answer === 'count') return rows.count(parts, options);
    if (answer === 'exists') return rows.exists(parts, options);
    if (modify === undefined) return rows.find(parts, options);
    const values = (modify.values ?? []).map(valueOf);
    if (modify.op === 'D') return modify.rows_before === true ? rows.fetchAndDelete(parts, options) : rows.delete(parts, options);
    if (modify.op === 'lock') return modify.rows_before === true ? rows.fetchAndLock(parts, options) : rows.lock(parts, options);
    const name = { U: 'Update', '+': 'Increment', '-': 'Decrement' }[modify.op];
    const method = modify.rows_before === true ? `fetchAnd${name}` : name.toLowerCase();
    return (rows as unknown as Record<string, (...all: unknown[]) => Promise<unknown>>)[method]!(parts, values, options);
  }

  private begin(step: Step, signal?: AbortSignal): Promise<unknown> {
    const options = { timeout: step.timeout_ms, within: step.server_ms, signal };
    return step.group === undefined ? this.run(step, options) : this.group(step.group, options);
  }

  private async group(requests: Request[], options: RequestOptions): Promise<unknown> {
    let parts: Promise<unknown>[] = [];
    try {
      return await this.client.group((on) => {
        parts = requests.map((request) => this.run(request, {}, { on, ...on }[request.find?.modify?.meets ?? 'on']));
        return parts;
      }, options);
    } catch (error) {
      const line = error instanceof ReplyError ? error.line : 0;
      for (const [place, part] of (await Promise.allSettled(parts)).entries()) {
        const reason: unknown = part.status === 'rejected' ? part.reason : undefined;
        if (line === 0 || place + 1 === line) assert.equal(reason, error);
        else assert.ok(reason instanceof ReplyError && reason.text === 'undone' && reason.line === line);
      }
      throw error;
    }
  }

  private async end(start: () => Promise<unknown>): Promise<Ending> {
    const began = performance.now();
    try {
      return { value: await start(), milliseconds: performance.now() - began };
    } catch (error) {
      return { error, milliseconds: performance.now() - began };
    }
  }

  async step(step: Step): Promise<void> {
    const gives = step.gives as Result;
    if (step.call !== undefined) {
      const abort = new AbortController();
      this.calls.set(step.call, { ending: this.end(() => this.begin(step, abort.signal)), abort });
    } else if (step.find ?? step.insert ?? step.insert_rows ?? step.describe ?? step.hello ?? listing(step) ?? step.group) {
      compare(await this.end(() => this.begin(step)), step.gives!);
    } else if (step.result !== undefined) {
      compare(await within(this.calls.get(step.result)!.ending, 'the end of the call'), gives);
    } else if (step.cancel !== undefined) {
      this.calls.get(step.cancel)!.abort.abort();
    } else if (step.pipeline !== undefined) {
      const requests = step.pipeline;
      const options = { timeout: step.timeout_ms, within: step.server_ms };
      const results = await this.client.pipeline((on) => requests.map((request) => this.run(request, options, on)));
      assert.equal(results.length, (step.gives as Result[]).length);
      results.forEach((result, i) => {
        const ending = result.status === 'fulfilled' ? { value: result.value } : { error: result.reason as unknown };
        compare({ ...ending, milliseconds: 0 }, (step.gives as Result[])[i]!);
      });
    } else if (step.iterate !== undefined) {
      await this.iterate(step, gives);
    } else if (step.close !== undefined) {
      await this.client.close();
    } else if (step.pause_ms !== undefined) {
      await pause(step.pause_ms);
    } else if (step.signal !== undefined) {
      this.signals.give(step.signal);
    } else if (step.await !== undefined) {
      await this.signals.wait(step.await);
    } else {
      throw new Error(`an unknown step: ${JSON.stringify(step)}`);
    }
  }

  private async iterate(step: Step, gives: Result): Promise<void> {
    const { index = 't', key, limit, offset } = step.iterate!;
    const op = step.iterate!.op as FindOp | undefined;
    const rows: unknown[] = [];
    const ending = await this.end(async () => {
      for await (const row of this.indexes[index].iterate(key.map(valueOf) as Buffer[], { op, limit, offset, timeout: step.timeout_ms })) {
        rows.push(row);
        if (rows.length === 1 && step.signal_after_first !== undefined) this.signals.give(step.signal_after_first);
        if (rows.length === step.take) break;
      }
      return rows;
    });
    assert.deepEqual(rows, expectedRows(gives.rows!));
    const { rows: _, ...others } = gives;
    compare(ending, gives.error === undefined ? gives : others);
  }
}

function expectedRows(rows: (string | null)[][]): (Buffer | null)[][] {
  return rows.map((row) => row.map(valueOf));
}

/** Of a step that asks what there is. */
function listing(step: Step): true | string | [string, string] | undefined {
  return step.databases ?? step.tables ?? step.indexes ?? step.ping;
}

function compare(ending: Ending, gives: Result | Result[]): void {
  if (Array.isArray(gives)) {
    if (ending.error !== undefined) throw ending.error;
    const values = ending.value as unknown[];
    assert.equal(values.length, gives.length);
    gives.forEach((wanted, i) => compare({ value: values[i], milliseconds: 0 }, wanted));
    return;
  }
  if (gives.error === undefined) {
    if (ending.error !== undefined) throw ending.error;
    if (gives.rows !== undefined) assert.deepEqual(ending.value, expectedRows(gives.rows));
    else if (gives.modified !== undefined) assert.equal(ending.value, gives.modified);
    else if (gives.count !== undefined) assert.equal(ending.value, gives.count);
    else if (gives.exists !== undefined) assert.equal(ending.value, gives.exists);
    else if (gives.described !== undefined) assert.deepEqual(describedOf(ending.value as Description), gives.described);
    else if (gives.pairs !== undefined) assert.deepEqual([...(ending.value as ReadonlyMap<string, string>)], gives.pairs);
    else if (gives.names !== undefined) assert.deepEqual(ending.value, gives.names);
    else if (gives.listed !== undefined) assert.deepEqual(ending.value, gives.listed);
    else if (gives.pong !== undefined) assert.equal(ending.value, undefined);
    else if (gives.outcomes !== undefined)
      assert.deepEqual(
        ending.value,
        gives.outcomes.map(([done, id]) => ({ done, id: id === null ? null : BigInt(id) })),
      );
    else assert.equal(ending.value, gives.id === null ? null : BigInt(gives.id!));
    return;
  }
  const { error } = ending;
  assert.ok(error instanceof HandlerSocketError, `no error of this package: ${String(error ?? JSON.stringify(ending.value))}`);
  const kinds = typeof gives.error === 'string' ? [gives.error] : gives.error;
  assert.ok(kinds.includes(error.kind), `${error.kind} is not ${kinds.join(' or ')}: ${error.message}`);
  const reply = error instanceof ReplyError ? error : undefined;
  const found = {
    sent: error.sent,
    maybe_executed: error.maybeExecuted,
    code: reply?.code,
    text: reply?.text,
    kind: reply?.reason,
    line: reply?.line,
    number: reply?.number,
    sqlstate: reply?.sqlState,
    message: reply?.serverMessage,
  };
  for (const [name, value] of Object.entries(found)) {
    const wanted: unknown = gives[name as keyof Result];
    if (wanted !== undefined) assert.equal(value, wanted, `${name} of ${error.message}`);
  }
  assert.equal(error.safeToRetry, !error.maybeExecuted);
  if (gives.after_ms !== undefined) assert.ok(ending.milliseconds >= gives.after_ms - 1, `after ${ending.milliseconds} ms`);
  if (gives.within_ms !== undefined) assert.ok(ending.milliseconds <= gives.within_ms, `after ${ending.milliseconds} ms`);
}

/** `max_in_flight` is maxInFlight here, and times are milliseconds. */
function optionsOf(given: Record<string, number | string>): Options {
  const named = Object.entries(given).map(([name, value]) => [
    name.replace(/_ms$/, '').replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ]);
  return { timeout: 5000, connectTimeout: 5000, backoffMin: 1, backoffMax: 10, ...(Object.fromEntries(named) as Options) };
}

async function play(scenario: Scenario, cutAt: number): Promise<void> {
  const signals = new Signals();
  const ports: PlayedPort[] = [];
  const listen = async (scripts: Script[] | null | undefined): Promise<number | undefined> => {
    if (scripts === undefined) return undefined;
    const port = new PlayedPort(scripts, cutAt, signals);
    ports.push(port);
    await port.listen();
    return port.port;
  };
  const addresses: Address[] = [];
  for (const server of scenario.servers) {
    const [port, portWr] = [await listen(server.read), await listen(server.write)];
    addresses.push({ host: '127.0.0.1', ...(port === undefined ? {} : { port }), ...(portWr === undefined ? {} : { portWr }) });
  }
  const client = new Client({ ...optionsOf(scenario.options ?? {}), addresses });
  try {
    const application = new Application(client, signals);
    for (const step of scenario.steps) await application.step(step);
    for (const port of ports) await port.finish();
  } finally {
    await client.close();
    for (const port of ports) port.close();
  }
}

/**
 * This client keeps requests, and not bytes, until the operating system takes them. One that is given up there is taken back,
 * never goes out, and says so. The scenario is written for clients whose buffer holds bytes.
 */
function takenBack(scenario: Scenario): Scenario {
  if (scenario.name !== 'given_up_in_the_buffer') return scenario;
  const steps = scenario.steps.map((step) =>
    step.insert === undefined || step.call !== undefined
      ? step
      : { ...step, gives: { ...(step.gives as Result), sent: false, maybe_executed: false } },
  );
  return { ...scenario, steps };
}

// One after the other: the played servers share the event loop with the client, and some scenarios measure time.
suite('scenarios.json', () => {
  for (const scenario of vectors<Scenario>('scenarios')) {
    for (const cutAt of scenario.cuts ?? [-1]) {
      test(`${scenario.name}${cutAt < 0 ? '' : ` cut at ${cutAt}`}: ${scenario.why}`, () => play(takenBack(scenario), cutAt));
    }
  }
});
