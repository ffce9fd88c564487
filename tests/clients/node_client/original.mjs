// Requests that the original server understands, too. Prints what each gives. argv: the two ports, and the database.
import { Client } from 'handlersocket2';

const [port, portWr, database] = process.argv.slice(2);
const client = new Client({ port: Number(port), portWr: Number(portWr), database });
const employees = client.index({ table: 'employee', columns: { id: 'number', name: 'string?', salary: 'number' }, key: ['id'] });
const names = client.index({ table: 'employee', columns: { id: 'number', name: 'string?' }, filterColumns: ['salary'], rows: 'array' });
const tell = async (call) => console.log(JSON.stringify(await call.catch((error) => error.text ?? error.message)));

await tell(employees.findOne(1));
await tell(employees.findOne({ id: 9 }));
await tell(names.find(1, { op: '>', limit: 10 }));
await tell(names.findIn([4, 9, 2]));
await tell(
  names.find(0, {
    op: '>',
    limit: 10,
    filters: [
      ['salary', '>', 200],
      ['salary', '!=', 400, 'while'],
    ],
  }),
);
await tell(employees.update(1, { name: 'Anna' }));
await tell(employees.increment(2, { salary: 50 }));
await tell(employees.decrement(3, { salary: 1 }));
// What it answers to an insert without an AUTO_INCREMENT column is some number.
await tell(employees.insert({ id: 5, salary: 500 }).then(() => 1));
await tell(employees.fetchAndDelete(4));
await tell(employees.insert({ id: 5, name: 'Eve' }));
await tell(client.index({ table: 'nothing', columns: ['id'] }).find(1));
const ids = [];
for await (const { id } of employees.iterate(0, { op: '>', limit: 100 })) ids.push(id);
await tell(Promise.resolve(ids));
await client.close();
