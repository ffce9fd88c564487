// Asks which databases, tables and indexes there are. It prints each step and what it gave as a line of JSON.
// argv: the port for reading, the port for writing, and the database.
import { Client } from 'handlersocket2';

const [port, portWr, database] = process.argv.slice(2);
const client = new Client({ port: Number(port), portWr: Number(portWr), database });
const step = async (name, call) => console.log(JSON.stringify([name, await call()]));
const refused = (promise) => promise.then(() => 'no error', ({ kind, maybeExecuted }) => [kind, maybeExecuted]);

await step('databases', () => client.databases());
await step('tables', () => client.tables());
await step('the same', () => client.tables(database));
for (const table of await client.tables()) await step(table, () => client.indexes({ table }));
await step('no database', () => refused(client.tables('nosuch')));
await step('no table', () => refused(client.indexes({ database, table: 'nosuch' })));
await client.ping();
await step('connections', () => client.counters.connectionsMade);
await client.close();
