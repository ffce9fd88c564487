// Makes every request once, with types and names, and prints each result as a line of JSON: the step, and what it gave.
// argv: the port for reading, the port for writing, and the database.
import { Client } from 'handlersocket2';

const [port, portWr, database] = process.argv.slice(2);
const client = new Client({ port: Number(port), portWr: Number(portWr), database });

const text = (_, value) => {
  if (typeof value === 'bigint') return `${value}n`;
  if (value?.type === 'Buffer') return `0x${Buffer.from(value.data).toString('hex')}`;
  return value;
};
async function step(name, call) {
  let result;
  try {
    result = await call();
  } catch (error) {
    const { kind, code, text: words, reason, sent, maybeExecuted } = error;
    if (kind === undefined) throw error;
    result = { error: kind, code, text: words, reason, sent, maybeExecuted };
  }
  console.log(JSON.stringify([name, result], text));
}

const people = client.index({
  table: 'person',
  columns: {
    id: 'bigint',
    name: 'string',
    born: 'date?',
    seen: 'datetime.utc?',
    visits: 'number',
    balance: 'decimal',
    ratio: 'double?',
    photo: 'bytes?',
    settings: 'json?',
    active: 'boolean',
    walk: 'time?',
    big: 'bigint?',
  },
  filterColumns: ['visits', 'name'],
  key: ['id'],
});

const ann = {
  name: 'Ann Grün',
  born: '1990-02-28',
  seen: new Date('2024-02-29T12:30:00.250Z'),
  visits: 5,
  balance: '12345678901234567890.12',
  ratio: 0.1,
  photo: Buffer.from([0, 1, 9, 10, 255]),
  settings: { theme: 'dark', tabs: ['a\tb', null] },
  active: true,
  walk: -3_723_500,
  big: 18446744073709551615n,
};
await step('insert', () => people.insert(ann));
await step('insert positions', () => people.insert([7n, 'Bob']));
await step('insert again', () => people.insert({ id: 7, name: 'Bob' }));
await step('insert too long', () => people.insert({ name: 'x'.repeat(1000) }));
await step('find one', () => people.findOne(1));
await step('find by name', () => people.findOne({ id: 7n }));
await step('find nothing', () => people.findOne(8));
for (const name of ['Cleo', 'Dan', 'Eve\0\t\n']) await people.insert({ name, visits: name.length });

const names = client.index({ table: 'person', columns: ['id', 'name'], filterColumns: { visits: 'number' }, rows: 'array' });
await step('find range', () => names.find(2, { op: '>=', limit: 10 }));
await step('find down', () => names.find(9, { op: '<=', limit: 2, offset: 1 }));
await step('find in', () => names.findIn([9, 1, 8, 100]));
await step('find filter', () => names.find(0, { op: '>', limit: 10, filters: [['visits', '>=', 4]] }));
await step('find while', () => names.find(0, { op: '>', limit: 10, filters: [['visits', '!=', 0, 'while']] }));
const byName = client.index({ table: 'person', index: 'by_name', columns: { id: 'number', name: 'string' } });
await step('find by another index', () => byName.find('Dan', { op: '>=', limit: 3 }));

await step('update', () => people.update(7, { name: 'Bobby', balance: '0.10', active: false }));
await step('updated', () => people.findOne(7));
await step('update in', () => people.update([], { visits: 9 }, { in: { values: [8, 9, 77] }, limit: 3 }));
await step('increment', () => people.increment(1, { visits: 3 }));
await step('decrement', () => people.decrement(1, { visits: 1, big: 1 }));
await step('decrement across zero', () => people.decrement(1, { visits: 1000 }));
await step('incremented', async () => {
  const { visits, big } = await people.findOne(1);
  return [visits, big];
});
await step('fetch and increment', async () => (await people.fetchAndIncrement(1, { visits: 1 })).map(({ id, visits }) => [id, visits]));
await step('fetch and update', async () => (await people.fetchAndUpdate(8, { name: 'Cleopatra' })).map(({ id, name }) => [id, name]));
await step('fetch and delete', async () => (await people.fetchAndDelete(9)).map(({ id, name }) => [id, name]));
await step('delete', () => people.delete(10));
await step('delete nothing', () => people.delete(10));

await step('pipeline', async () => {
  const results = await client.pipeline((on) => [
    on(people).update(8, { visits: 77 }),
    on(people).findOne(8),
    on(names).find(['x', 'y']),
    on(people).delete(8),
  ]);
  return results.map(({ status, value, reason }) => (status === 'fulfilled' ? (value?.visits ?? value) : `${reason.kind} ${reason.text}`));
});
const nothing = client.index({ table: 'nothing', columns: ['id'] });
await step('no table', () => nothing.find(1));
await step('no column', () => client.index({ table: 'person', columns: ['nothing'] }).find(1));
await step('wrong type', () => client.index({ table: 'person', columns: { name: 'number' } }).findOne(1));
await step('after the errors', () => names.findOne(1));

const rows = client.index({ table: 'many', columns: { id: 'number', text: 'string' } });
await step('iterate', async () => {
  let [count, sum, bytes] = [0, 0, 0];
  for await (const { id, text } of rows.iterate(0, { op: '>', limit: 1_000_000 })) {
    if (id <= sum) throw new Error('out of order');
    [count, sum, bytes] = [count + 1, id, bytes + text.length];
  }
  return [count, sum, bytes];
});
await step('iterate and leave', async () => {
  for await (const { id } of rows.iterate(0, { op: '>', limit: 1_000_000 })) if (id === 100) return id;
  return null;
});
await step('many callers', async () => {
  const found = await Promise.all(Array.from({ length: 5000 }, (_, i) => rows.findOne((i % 1000) + 1)));
  return found.every(({ id }, i) => id === (i % 1000) + 1);
});
const { inFlight, errors } = client.counters;
await step('counters', () => [inFlight, errors > 0]);
await client.close();
