// Describes indexes and uses them by their types. It prints each step and what it gave as a line of JSON.
// argv: the port for reading, the port for writing, and the database.
import { Client, range } from 'handlersocket2';

const [port, portWr, database] = process.argv.slice(2);
const client = new Client({ port: Number(port), portWr: Number(portWr), database });
const text = (_, value) => (typeof value === 'bigint' ? `${value}n` : value);
const step = async (name, call) => console.log(JSON.stringify([name, await call()], text));
const refused = (promise) => promise.then(() => 'no error', ({ code, text }) => [code, text]);

await step('all', () => client.describe({ table: 'visitor' }));
const some = await client.describe({ table: 'visitor', index: 'by_name', columns: ['visits'], filterColumns: ['id', 'name'] });
await step('some', () => some);
await step('names only', async () => {
  const { columns, key } = await client.describe({ table: 'visitor', columns: [] });
  return [columns, key.map(({ name }) => name)];
});
const byName = client.indexFrom(some, { rows: 'array' });
await step('key by name', () => byName.find({ name: 'Ann', visits: 1 }));
await step('filter', () => byName.find(range(), { limit: 9, filters: [['id', '=', 2]] }));
await step('own types', async () => (await client.describedIndex({ table: 'visitor', types: { id: 'bigint' } })).findOne(1));

const visitors = await client.describedIndex({ table: 'visitor' });
await step('pipeline', async () => {
  const results = await client.pipeline((on) => [on(visitors).increment(1, { visits: 1 }), on(visitors).findOne(1)]);
  return results.map(({ value }) => value);
});
await step('group', () => client.group((on) => [on.some(visitors).increment(1, { visits: 1 }), on(visitors).findOne(1)]));
await step('iterate', async () => {
  const found = [];
  for await (const { name } of visitors.iterate(range(), { limit: 9 })) found.push(name);
  return found;
});
await step('insert by name', async () => visitors.findOne(await visitors.insert({ name: 'Cleo' })));
await step('no table', () => refused(client.describe({ table: 'nosuch' })));
await step('no index', () => refused(client.describedIndex({ table: 'visitor', index: 'nosuch' })));
await step('no column', () => refused(client.describe({ table: 'visitor', columns: ['id', 'nosuch'] })));

const hello = await client.hello();
await step('hello', () => [...hello.keys()]);
await step('protocol', () => hello.get('protocol'));
await step('requests', () => hello.get('requests'));
// The stream has one of its own.
await step('connections', () => [client.counters.connectionsMade - 1, client.counters.connectionsLost]);
await client.close();
