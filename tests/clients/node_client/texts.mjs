// Gets errors with the server's own words and without, and prints what they hold. argv: the port for reading, the port for
// writing, and the database.
import { inspect } from 'node:util';
import { Client } from 'handlersocket2';

const [port, portWr, database] = process.argv.slice(2);
const address = { port: Number(port), portWr: Number(portWr), database };
const errorOf = (promise) => promise.then(() => undefined, (error) => error);
const fields = ({ text, reason, number, sqlState, serverMessage }) => [text, reason, number, sqlState, serverMessage];
const print = (name, value) => console.log(JSON.stringify([name, value]));

for (const texts of ['on', 'off']) {
  const client = new Client({ ...address, texts });
  const visitors = client.index({ table: 'visitor', columns: ['id', 'name', 'visits'] });
  const insert = await errorOf(visitors.insert([1, 'secret', 1]));
  const group = await errorOf(client.group((on) => [on(visitors).update(1, { visits: 9 }), on(visitors).insert([1, 'secret', 1])]));
  // The value that is there already is in the server's message alone.
  const shown = [insert, group].some((error) => /Duplicate|for key|'1'/.test(inspect(error) + JSON.stringify(error) + error.message));
  print(texts, { insert: fields(insert), group: [...fields(group), group.line], shown });
  await client.close();
}
const client = new Client({ ...address, texts: 'on' });
print('no table', fields(await errorOf(client.describe({ table: 'nosuch' }))));
const hello = [await client.hello(), await new Client(address).hello()];
print('hello', hello.map((pairs) => pairs.get('texts') ?? null));
process.exit(0);
