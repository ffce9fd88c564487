// Describes an index, or finds a row by a description that it is given, and prints that. argv: the port for reading, the port
// for writing, the database, `describe` or `find`, and the description.
import { Client } from 'handlersocket2';

const [port, portWr, database, step, description] = process.argv.slice(2);
const client = new Client({ port: Number(port), portWr: Number(portWr), database });
const find = async () => {
  try {
    return await client.indexFrom(JSON.parse(description)).findOne(1);
  } catch ({ kind, text = null, sent, maybeExecuted }) {
    return [kind, text, sent, maybeExecuted, client.counters.connectionsLost];
  }
};
console.log(JSON.stringify(step === 'find' ? await find() : await client.describe({ table: 'visitor' })));
await client.close();
