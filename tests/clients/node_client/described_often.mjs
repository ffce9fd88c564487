// Uses more indexes than a connection may open, which are three here. What is one more goes on a new one. argv: the port for reading, the port for writing, and the
// database.
import { Client } from 'handlersocket2';

const [port, portWr, database] = process.argv.slice(2);
const client = new Client({ port: Number(port), portWr: Number(portWr), database });
const print = (value) => console.log(JSON.stringify(value));
const textOf = (promise) => promise.then(() => 'no error', ({ text }) => text);

const ids = client.index({ table: 'visitor', columns: { id: 'number' } });
print(await ids.findOne(1));
const visitors = await client.describedIndex({ table: 'visitor' });
print(await visitors.findOne(1));
const oneMore = { table: 'visitor', columns: ['name'] };
print([await textOf(client.describe(oneMore)), await textOf(client.index(oneMore).findOne(1))]);
// The new one has room for three again.
const again = await Promise.all([client.describe({ table: 'visitor' }), client.describe({ table: 'visitor' })]);
print(again.map(({ columns }) => columns.length));
print(await ids.findOne(1));
print(await visitors.findOne(1));
print([client.counters.connectionsMade, client.counters.connectionsLost]);
await client.close();
