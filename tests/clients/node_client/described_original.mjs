// What a server that knows neither descriptions nor hello nor lists answers. argv: the port for reading, the port for writing, and the
// database.
import { Client } from 'handlersocket2';

const [port, portWr, database] = process.argv.slice(2);
const client = new Client({ port: Number(port), portWr: Number(portWr), database, texts: 'on' });
const errorOf = (promise) => promise.then(() => undefined, (error) => error);
const print = (value) => console.log(JSON.stringify(value));

const asked = [client.describe({ table: 'visitor', columns: ['id'] }), client.hello(), client.databases()];
print((await Promise.all(asked.map(errorOf))).map(({ text }) => text));
await client.ping();
const visitors = client.index({ table: 'visitor', columns: ['id', 'name'], rows: 'array' });
print(await visitors.findOne(1));
const { text, serverMessage } = await errorOf(visitors.insert([1, 'again']));
print([text, serverMessage]);
print([client.counters.connectionsMade, client.counters.connectionsLost]);
await client.close();
