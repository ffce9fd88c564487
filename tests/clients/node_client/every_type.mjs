// Reads the rows of the table `every` by the types that the server tells, prints of each value what it is, and writes the rows
// into the table `again`. argv: the port for reading, the port for writing, and the database.
import { Client, range } from 'handlersocket2';

const [port, portWr, database] = process.argv.slice(2);
const client = new Client({ port: Number(port), portWr: Number(portWr), database });

function shown(value) {
  if (value === null) return null;
  if (Buffer.isBuffer(value)) return ['bytes', value.toString('hex')];
  return [typeof value, typeof value === 'bigint' ? String(value) : value];
}

// Whole numbers are shown as their digits. The others are compared as numbers.
const { columns } = await client.describe({ table: 'every' });
const whole = new Set(columns.filter(({ type }) => /^(tiny|small|medium|)int|^year/.test(type)).map(({ name }) => name));
const digits = ([name, value]) => [name, whole.has(name) && typeof value === 'number' ? ['number', String(value)] : shown(value)];

const every = await client.describedIndex({ table: 'every' });
const again = await client.describedIndex({ table: 'again' });
for (const row of await every.find(range(), { limit: 9 })) {
  console.log(JSON.stringify(Object.fromEntries(Object.entries(row).map(digits))));
  await again.insert(row);
}
await client.close();
