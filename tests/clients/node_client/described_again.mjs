// Finds a row by the types that the server tells, and again when the server was started again. argv: the port for reading,
// the port for writing, the database, and a folder: there it leaves the file `found`, and waits for the file `again`.
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from 'handlersocket2';

const [port, portWr, database, folder] = process.argv.slice(2);
const client = new Client({ port: Number(port), portWr: Number(portWr), database, connectAttempts: 20 });
const visitors = await client.describedIndex({ table: 'visitor' });
const rows = [await visitors.findOne(1)];
writeFileSync(path.join(folder, 'found'), '');
for (let i = 0; i < 1200 && !existsSync(path.join(folder, 'again')); i++) await new Promise((resolve) => setTimeout(resolve, 50));
rows.push(await visitors.findOne(1));
await visitors.update(1, { visits: 2 });
rows.push(await visitors.findOne(1));
console.log(JSON.stringify(rows));
await client.close();
