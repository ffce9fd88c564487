// Many callers, large rows and a slow reader over each of the given connections. Prints what each gave. argv: JSON of a list of
// options, and the database.
import { Client } from 'handlersocket2';

const [list, database] = process.argv.slice(2);
const LARGE = 'ö'.repeat(3_000_000);
for (const [n, options] of JSON.parse(list).entries()) {
  const client = new Client({ ...options, database });
  const many = client.index({ table: 'many', columns: { id: 'number', text: 'string' } });
  const found = await Promise.all(Array.from({ length: 3000 }, (_, i) => many.findOne(i + 1)));
  const right = found.every(({ id }, i) => id === i + 1);
  let [count, last] = [0, 0];
  for await (const { id } of many.iterate(0, { op: '>', limit: 1_000_000 })) {
    if (id !== last + 1) throw new Error(`${id} behind ${last}`);
    [count, last] = [count + 1, id];
    if (count % 10_000 === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const large = client.index({ table: 'large', columns: { id: 'number', text: 'string' } });
  const writes = await Promise.all([0, 1, 2].map((i) => large.insert([n * 3 + i, LARGE + i])));
  const texts = await large.findIn([0, 1, 2].map((i) => n * 3 + i));
  const same = texts.every(({ text }, i) => text === LARGE + i);
  console.log(JSON.stringify([right, count, writes, same]));
  await client.close();
}
