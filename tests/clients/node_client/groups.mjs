// Makes groups, and prints each result as a line of JSON: the step, and what it gave.
// argv: the port for reading, the port for writing, and the database.
import { Client, range } from 'handlersocket2';

const [port, portWr, database] = process.argv.slice(2);
const client = new Client({ port: Number(port), portWr: Number(portWr), database });
const accounts = client.index({ table: 'account', columns: { id: 'number', balance: 'number' }, filterColumns: ['balance'] });
const entries = client.index({ table: 'entry', columns: ['text'] });

const text = (_, value) => (typeof value === 'bigint' ? `${value}n` : value);
const said = (error) => [error.text ?? error.kind, error.line, error.isUnmet, error.maybeExecuted];
const step = async (name, call) => console.log(JSON.stringify([name, await call().catch(said)], text));
const balances = async () => (await accounts.find(range(), { limit: 2 })).map(({ balance }) => balance);
const transfer = (from, to, amount) =>
  client.group((on) => [on.some(accounts).decrement(from, { balance: amount }), on.some(accounts).increment(to, { balance: amount })]);
const unlessUnmet = (error) => {
  if (!error.isUnmet) throw error;
  return undefined;
};

await step('transfer', () => transfer(1, 2, 30));
await step('not so much', () => transfer(1, 2, 71));
await step('no such account', () => transfer(1, 3, 5));
await step('balances', balances);
await step('many transfers', async () => {
  const sums = new Set();
  const move = async (from, to) => {
    for (let i = 0; i < 20; i++) {
      await transfer(from, to, 7).catch(unlessUnmet);
      const [one, two] = await balances();
      sums.add(one + two);
    }
  };
  await Promise.all([move(1, 2), move(2, 1), move(1, 2), move(2, 1)]);
  return [...sums];
});

const set = (old, balance) =>
  client.group((on) => [on.some(accounts).update(5, { balance }, { filters: [['balance', '=', old]] }), on(accounts).findOne(5)]);
await step('set', () => set(0, 1));
await step('set again', () => set(0, 2));
await step('count', async () => {
  const count = async () => {
    for (let done = 0; done < 25; ) {
      const { balance } = await accounts.findOne(5);
      if ((await set(balance, balance + 1).catch(unlessUnmet)) !== undefined) done += 1;
    }
  };
  await Promise.all([count(), count(), count(), count()]);
  return accounts.findOne(5);
});

await step('locks', () =>
  client.group((on) => [
    on.some(accounts).fetchAndLock(5),
    on.none(accounts).lock(6),
    on(accounts).insert([6, 7]),
    on(entries).insert(['done']),
    on(accounts).findIn([]),
    on(accounts).count(range()),
  ]),
);
await step('duplicate', () =>
  client.group((on) => [on(entries).insert(['undone']), on(accounts).findIn([]), on(accounts).insert([1, 1])]),
);
await step('entries', () => entries.find(range(), { limit: 9 }));
await client.close();
