// Connects with each of the given options, and prints what a find and a write give. argv: JSON of a list of options, and the
// database.
import { Client } from 'handlersocket2';

const [list, database] = process.argv.slice(2);
for (const options of JSON.parse(list)) {
  const client = typeof options === 'string' ? new Client(options) : new Client({ ...options, database });
  const items = client.index({ table: 'item', columns: { id: 'number', text: 'string' } });
  const tell = (call) => call.catch(({ kind, text, message }) => (kind === 'connect' ? `connect: ${message}` : `${kind} ${text}`));
  const answers = [await tell(items.findOne(1)), await tell(items.update(1, { text: 'x' }))];
  console.log(JSON.stringify(answers));
  await client.close();
}
