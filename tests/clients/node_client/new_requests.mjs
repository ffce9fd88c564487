// Makes every request that the original does not have, and prints each result as a line of JSON: the step, and what it gave.
// argv: the port for reading, the port for writing, and the database.
import { Client, assign, range } from 'handlersocket2';

const [port, portWr, database] = process.argv.slice(2);
const client = new Client({ port: Number(port), portWr: Number(portWr), database });
const columns = { id: 'number', name: 'string?', visits: 'number?', flags: 'number' };
const visitors = client.index({ table: 'visitor', columns, filterColumns: ['visits'] });
const byName = client.index({ table: 'visitor', index: 'by_name', columns });

const text = (_, value) => (typeof value === 'bigint' ? `${value}n` : value);
const step = async (name, call) => console.log(JSON.stringify([name, await call().catch((error) => error.reason ?? error.kind)], text));
const ids = (rows) => rows.map(({ id }) => id);
const find = async (index, key, options) => ids(await index.find(key, { limit: 9, ...options }));

await step('insert many', () => visitors.insertMany([[1, 'Ann', 1], [2, 'Anton', 2], [3, null, 3]]));
await step('whole', () => find(visitors, range()));
await step('down', () => find(visitors, range({ down: true }), { limit: 2 }));
await step('two ends', () => find(visitors, range({ gt: 1, le: 3 })));
await step('two ends down', () => find(visitors, range({ ge: 1, lt: 3, down: true })));
await step('prefix', () => find(byName, range({ prefix: 'An' })));
await step('from null', () => find(byName, range({ ge: null, lt: 'Anton' })));
await step('below', () => find(byName, range({ lt: 'Anton' })));
await step('key null', () => find(byName, range({ key: null })));
await step('page', () => find(visitors, 2, { op: '>' }));
await step('iterate', async () => {
  const found = [];
  for await (const { id } of visitors.iterate(range({ down: true }), { limit: 9 })) found.push(id);
  return found;
});
await step('count', () => visitors.count(range()));
await step('count some', () => visitors.count(range(), { filters: [['visits', '<', 3]] }));
await step('count in', () => visitors.count([], { in: { values: [1, 3, 9] } }));
await step('exists', async () => [await visitors.exists(3), await visitors.exists(4)]);

const now = async () => Object.values(await visitors.findOne(1));
const update = async (changes) => [await visitors.update(1, changes), ...(await now())];
await step('add', () => update({ visits: assign.add(5, { high: 4 }), name: assign.append('!') }));
await step('default', () => update({ visits: assign.default(), flags: assign.bitAnd(6) }));
await step('subtract', () => update({ visits: assign.subtract(9), flags: assign.bitOr(3) }));
await step('max', () => update({ visits: assign.max(8), name: assign.prepend('Dr. '), flags: assign.bitXor(1) }));
await step('min', () => update([1, null, assign.min(3)]));
await step('before', () => visitors.fetchAndUpdate(1, { flags: assign.add(1) }));
await step('afterwards', () => visitors.updateAndFetch(1, { flags: assign.add(1), name: 'Ann' }));
await step('incremented', () => visitors.incrementAndFetch(1, { visits: 2 }));
await step('decremented', () => visitors.decrementAndFetch(1, { visits: 1 }));

await step('duplicate', () => visitors.insertMany([{ id: 6 }, { id: 1 }]));
await step('ignored', () => visitors.insertMany([{ id: 1 }], { duplicate: 'ignore' }));
await step('replaced', () => visitors.insertMany([{ id: 1, name: 'Ann' }], { duplicate: 'replace' }));
await step('upsert', () => visitors.upsert({ id: 1, visits: 50 }, { visits: assign.inserted(), name: assign.append('!') }));
await step('upserted', now);
await step('unchanged', () => visitors.upsert({ id: 1 }, { visits: 50 }));
await step('unmet', () => visitors.upsert({ id: 1 }, { visits: 51 }, { filters: [['visits', '<', 50]] }));
await step('upserts', () => visitors.upsertMany([[1], [20]], { flags: assign.add(1) }));
await step('pipeline', async () => {
  const results = await client.pipeline((on) => [
    on(visitors).upsert({ id: 20 }, { flags: assign.add(1) }),
    on(visitors).count(range()),
    on(visitors).exists(20),
  ]);
  return results.map(({ value }) => value?.done ?? value);
});
await client.close();
