// Gives the server a time for each kind of request, while somebody holds the lock of the row 1. argv: the port for reading,
// the port for writing, and the database.
import { Client, range } from 'handlersocket2';

const [port, portWr, database] = process.argv.slice(2);
const client = new Client({ port: Number(port), portWr: Number(portWr), database });
const visitors = client.index({ table: 'visitor', columns: { id: 'number', name: 'string', visits: 'number' } });
const print = (name, value) => console.log(JSON.stringify([name, value]));
const over = async (call) => {
  const began = performance.now();
  try {
    return await call();
  } catch ({ text, sent, maybeExecuted }) {
    const took = performance.now() - began;
    return [text, sent, maybeExecuted, took >= 99 && took < 20_000];
  }
};

print('find', await visitors.findOne(1, { within: 10_000 }));
print('count', await visitors.count(range(), { within: 10_000 }));
const ids = [];
for await (const { id } of visitors.iterate(range(), { limit: 9, within: 10_000 })) ids.push(id);
print('iterate', ids);
print('update', await over(() => visitors.update(1, { visits: 7 }, { within: 100 })));
const both = (on) => [on(visitors).update(2, { visits: 8 }), on(visitors).update(1, { visits: 8 })];
print('group', await over(() => client.group(both, { within: 100 })));
const [one, two] = await client.pipeline(
  (on) => [on(visitors).update(1, { visits: 9 }), on(visitors).update(2, { visits: 3 }, { within: 20_000 })],
  { within: 100 },
);
print('pipeline', [one.reason.text, two.value]);
print('insert', String(await visitors.insert({ name: 'Cleo', visits: 3 }, { within: 10_000 })));
print('connections', [client.counters.connectionsMade, client.counters.connectionsLost]);
await client.close();
