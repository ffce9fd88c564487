// Measures lookups of random rows by many callers that share one client. Each asks for one row at a time and compares
// what it gets with its key.
//
//   node bench.mjs CLIENT CALLERS WARM_UP SECONDS READ_PORT REDIS_PORT SQL_PORT ROWS
//
// It writes the line "begin" after warming up, and then the result as a line of JSON; bench/clients/measure.py reads both.

const [name, ...numbers] = process.argv.slice(2);
const [callers, warmUp, seconds, hsPort, redisPort, sqlPort, rows] = numbers.map(Number);
const host = '127.0.0.1';
// The size of a pool, for the clients whose callers have a connection each.
const connections = Math.min(callers, 100);
// One of so many requests of a caller is timed.
const timedOneOf = 8;
const query = 'SELECT user_id, user_name, user_email FROM user WHERE user_id = ?';

function checkRow(key, id) {
  if (id !== key) throw new Error('a wrong row');
}

// A value of Redis begins with user_0000042.
function checkValue(key, value) {
  if (Number(value.slice(5, 12)) !== key) throw new Error('a wrong value');
}

async function nodeRedis(module, pool) {
  const { createClient } = await import(module);
  const client = createClient({ socket: { host, port: redisPort }, ...pool });
  await client.connect();
  return async (key) => checkValue(key, await client.get(`user:${key}`));
}

// Each gives a function that looks up one row and fails if it is a wrong one.
const clients = {
  async ours() {
    const { Client } = await import('handlersocket2');
    const client = new Client(`handlersocket://${host}:${hsPort}/test`);
    const columns = { user_id: 'number', user_name: 'string', user_email: 'string' };
    const users = client.index({ table: 'user', columns });
    return async (key) => checkRow(key, (await users.findOne(key)).user_id);
  },
  'node-redis-5': () => nodeRedis('redis5'),
  'node-redis': () => nodeRedis('redis'),
  async ioredis() {
    const { Redis } = await import('ioredis');
    const client = new Redis({ host, port: redisPort, enableAutoPipelining: true });
    return async (key) => checkValue(key, await client.get(`user:${key}`));
  },
  async 'valkey-glide'() {
    const { GlideClient } = await import('@valkey/valkey-glide');
    const client = await GlideClient.createClient({
      addresses: [{ host, port: redisPort }],
      requestTimeout: 10_000,
      inflightRequestsLimit: 10_000,
    });
    return async (key) => checkValue(key, await client.get(`user:${key}`));
  },
  async mysql2() {
    const { createPool } = await import('mysql2/promise');
    const pool = createPool({ host, port: sqlPort, user: 'root', database: 'test', connectionLimit: connections });
    return async (key) => checkRow(key, (await pool.execute(query, [key]))[0][0].user_id);
  },
  async mariadb() {
    const { createPool } = await import('mariadb');
    const pool = createPool({ host, port: sqlPort, user: 'root', database: 'test', connectionLimit: connections });
    return async (key) => checkRow(key, (await pool.execute(query, [key]))[0].user_id);
  },
};

function percentile(sorted, percent) {
  return sorted[Math.floor((sorted.length * percent) / 100)] ?? 0;
}

// Has the callers ask until the time is over. Latencies are in microseconds.
async function run(lookup, duration) {
  const times = [];
  let requests = 0;
  const began = performance.now();
  const end = began + duration * 1000;
  let over = false;
  const timer = setInterval(() => (over = performance.now() >= end), 5);
  async function caller() {
    for (let count = 0; !over; count++, requests++) {
      const key = 1 + Math.floor(Math.random() * rows);
      if (count % timedOneOf !== 0) {
        await lookup(key);
        continue;
      }
      const asked = performance.now();
      await lookup(key);
      times.push((performance.now() - asked) * 1000);
    }
  }
  await Promise.all(Array.from({ length: callers }, caller));
  clearInterval(timer);
  const took = (performance.now() - began) / 1000;
  const sorted = Float64Array.from(times).sort();
  return { requests, seconds: took, p50: percentile(sorted, 50), p99: percentile(sorted, 99) };
}

const lookup = await clients[name]();
await run(lookup, warmUp);
console.log('begin');
console.log(JSON.stringify(await run(lookup, seconds)));
process.exit(0);
