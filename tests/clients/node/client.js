// Uses node-handlersocket as an application would and prints what it got, one JSON line a step.
//   node client.js READ_PORT WRITE_PORT DATABASE
'use strict';

const hs = require('node-handlersocket');
const { promisify } = require('util');

const [readPort, writePort, database] = process.argv.slice(2);

function connect(port) {
  return new Promise((resolve, reject) => {
    const connection = hs.connect({ host: '127.0.0.1', port: Number(port) });
    connection.on('connect', () => resolve(connection));
    connection.on('error', reject);
  });
}

function open(connection, index, columns, filterColumns) {
  const openIndex = promisify(connection.openIndex).bind(connection);
  return openIndex(database, 'employee', index, columns, filterColumns || []);
}

async function call(step, index, method, ...args) {
  let result;
  try {
    result = await promisify(index[method]).apply(index, args);
  } catch (error) {
    result = { error: error.message };
  }
  console.log(JSON.stringify([step, result === undefined ? null : result]));
}

async function main() {
  const reading = await connect(readPort);
  const writing = await connect(writePort);
  const columns = ['id', 'name', 'salary'];
  const reader = await open(reading, 'PRIMARY', columns, ['salary', 'name']);
  const writer = await open(writing, 'PRIMARY', columns);
  const salary = await open(writing, 'PRIMARY', ['salary']);
  const narrow = await open(writing, 'PRIMARY', ['id', 'name']);
  const byName = await open(reading, 'by_name', ['id']);

  await call('insert', writer, 'insert', [10, 'Jürgen\t\n\0', 5000]);
  await call('insert null', writer, 'insert', [11, null, null]);
  await call('insert duplicate', writer, 'insert', [10, 'x', 1]);
  await call('find', reader, 'find', '=', 10);
  await call('find null', reader, 'find', '=', [11]);
  await call('find nothing', reader, 'find', '=', 99);
  await call('find range', reader, 'find', '>=', 1, { limit: 3, offset: 1 });
  await call('find in', reader, 'find', '=', hs.in(3, 1, 99), { limit: 10 });
  await call('find filter', reader, 'find', '>', 0,
    { limit: 10, filters: [hs.filter('salary', '>', 250), hs.filter('name', '!=', 'Cleo')] });
  await call('find while', reader, 'find', '>', 0,
    { limit: 10, filters: hs.while('salary', '<', 300) });
  await call('find by name', byName, 'find', '=', 'Bob');
  await call('update', writer, 'update', '=', 2, [2, 'Bobby', 250]);
  await call('increment', salary, 'increment', '=', 1, 11);
  await call('decrement', salary, 'decrement', '=', 3, 100);
  await call('increment and get', salary, 'incrementAndGet', '=', 1, 1);
  await call('update and get', writer, 'updateAndGet', '=', 3, [3, 'Chloe', 1]);
  await call('delete', writer, 'delete', '=', 11);
  await call('delete and get', writer, 'deleteAndGet', '=', 10);
  await call('insert too many', narrow, 'insert', [12, 'Eve', 'surplus', 1]);
  await call('update too many', salary, 'update', '=', 4, [401, 'surplus', 2]);
  await call('find from the beginning', reader, 'find', '>=', '', { limit: 2 });
  await call('read only', reader, 'delete', '=', 1);
  reading.close();
  writing.close();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
