// Writes for a while, whatever happens to the server, and prints what it knows of each row: how many increments were
// acknowledged, how many may have been executed, and how many finds were answered. No find may see another row's number or
// fewer increments than were acknowledged before it. argv: the two ports, the database, and a file: it ends when that is made.
import { existsSync } from 'node:fs';
import { Client } from 'handlersocket2';

const [port, portWr, database, stop] = process.argv.slice(2);
const WORKERS = 16;
const client = new Client({ port: Number(port), portWr: Number(portWr), database, timeout: 3000, retryReads: 2, backoffMax: 200 });
const counters = client.index({ table: 'counter', columns: { id: 'number', n: 'number' } });
// At the latest after a hundred seconds.
const end = performance.now() + 100_000;
let running = true;
const look = setInterval(() => (running = !existsSync(stop) && performance.now() < end), 50);

async function worker(id) {
  const row = { id, acknowledged: 0, maybe: 0, finds: 0, failed: 0 };
  while (running) {
    try {
      const modified = await counters.increment(id, { n: 1 });
      if (modified !== 1) throw new Error(`${modified} rows were modified`);
      row.acknowledged += 1;
    } catch (error) {
      if (error.kind === undefined) throw error;
      if (error.maybeExecuted) row.maybe += 1;
      else row.failed += 1;
    }
    try {
      const found = await counters.findOne(id);
      if (found.id !== id || found.n < row.acknowledged || found.n > row.acknowledged + row.maybe) {
        throw new Error(`row ${id}: ${JSON.stringify(found)} ${JSON.stringify(row)}`);
      }
      row.finds += 1;
    } catch (error) {
      if (error.kind === undefined) throw error;
      row.failed += 1;
    }
    // Some callers give up.
    if (Math.random() < 0.05) await counters.findOne(id, { timeout: 1 }).catch(() => undefined);
  }
  return row;
}

const rows = await Promise.all(Array.from({ length: WORKERS }, (_, id) => worker(id)));
clearInterval(look);
console.log(JSON.stringify({ rows, counters: client.counters }));
await client.close();
