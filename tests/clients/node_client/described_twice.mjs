// Finds a row by the types that the server tells, and again when the table was altered, on the same connection. argv: the port
// for reading, the port for writing, the database, and a folder: there it leaves the file `found`, and waits for `again`.
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from 'handlersocket2';

const [port, portWr, database, folder] = process.argv.slice(2);
const client = new Client({ port: Number(port), portWr: Number(portWr), database });
const before = await client.describedIndex({ table: 'visitor' });
const found = [await before.findOne(1)];
writeFileSync(path.join(folder, 'found'), '');
for (let i = 0; i < 1200 && !existsSync(path.join(folder, 'again')); i++) await new Promise((resolve) => setTimeout(resolve, 50));
found.push(await before.findOne(1).catch(({ text }) => text));
found.push(await (await client.describedIndex({ table: 'visitor' })).findOne(1));
console.log(JSON.stringify([...found, client.counters.connectionsMade]));
await client.close();
