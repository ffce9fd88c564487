// An application's work by node-redis or ioredis, as published. Prints what each step has answered, as JSON.
//
// Its arguments: the client, the port, an account, its password, and the file of the authority for TLS.
import { readFileSync } from 'node:fs';

const [how, port, user, password, authority] = process.argv.slice(2);
const callers = 20;
const turns = 50;
const host = '127.0.0.1';
const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));

// The pages of a scan, together.
const flat = async (pages) => {
  const keys = [];
  for await (const page of pages) keys.push(...page);
  return keys;
};

// Each library as what the steps need: one command, and several together, as a transaction or not.
const libraries = {
  'node-redis': async (options) => {
    const { createClient, RESP_TYPES } = await import('redis');
    const client = createClient({
      RESP: how.includes('resp3') ? 3 : 2,
      username: options.user,
      password: options.password,
      name: options.name,
      socket: {
        host,
        port: Number(port),
        reconnectStrategy: false,
        ...(options.tls && { tls: true, ca: readFileSync(authority) }),
      },
    });
    client.on('error', () => {});
    await client.connect();
    return {
      do: (...words) => client.sendCommand(words),
      bytes: (of, field) => client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }).hGet(of, field),
      all: async (key) => ({ ...(await client.hGetAll(key)) }),
      scan: (match) => flat(client.scanIterator({ MATCH: match, COUNT: 1 })),
      many: async (isUnit, commands) => {
        const batch = client.multi();
        for (const words of commands) batch.addCommand(words);
        return isUnit ? batch.exec() : batch.execAsPipeline();
      },
      end: () => client.close(),
    };
  },
  ioredis: async (options) => {
    const { Redis } = await import('ioredis');
    const client = new Redis({
      host,
      port: Number(port),
      username: options.user,
      password: options.password,
      connectionName: options.name,
      enableAutoPipelining: how.includes('autopipeline'),
      retryStrategy: null,
      lazyConnect: true,
      ...(options.tls && { tls: { ca: readFileSync(authority) } }),
    });
    // It tells why it could not log in by an event alone.
    let reason;
    client.on('error', (error) => {
      reason ??= error;
    });
    await client.connect().catch((error) => {
      throw reason ?? error;
    });
    return {
      do: (...words) => client.call(...words),
      bytes: (of, field) => client.hgetBuffer(of, field),
      scan: (match) => flat(client.scanStream({ match, count: 1 })),
      all: async (key) => client.hgetall(key),
      many: async (isUnit, commands) => {
        const batch = isUnit ? client.multi() : client.pipeline();
        for (const [name, ...words] of commands) batch[name.toLowerCase()](...words);
        return (await batch.exec()).map(([error, value]) => {
          if (error) throw error;
          return value;
        });
      },
      end: () => client.quit(),
    };
  },
};

const tell = (step, value) => console.log(JSON.stringify([step, value]));
const attempt = async (call) => {
  try {
    return await call();
  } catch (error) {
    return `error: ${error.message}`;
  }
};
const step = async (name, call) => tell(name, await attempt(call));

const open = libraries[how.split(',')[0]];
const client = await open({});
const key = 'app.employee:1';
await step('ping', async () => (await client.do('PING')) === 'PONG');
await step('read all', () => client.all(key));
await step('read one', () => client.do('HGET', key, 'name'));
await step('read NULL', () => client.do('HGET', key, 'photo'));
await step('read some', () => client.do('HMGET', key, 'name', 'photo', 'salary'));
await step('read nothing', () => client.all('app.employee:99'));
await step('insert', () => client.do('HSET', 'app.employee:10', 'name', 'Eve', 'salary', '5'));
await step('update', () => client.do('HSET', 'app.employee:10', 'name', 'Eva'));
await step('set bytes', () => client.do('HSET', key, 'photo', bytes));
await step('read bytes', async () => (await client.bytes(key, 'photo')).toString('hex'));
await step('add', () => client.do('HINCRBY', key, 'salary', '50'));
await step('delete a field', () => client.do('HDEL', key, 'photo'));
await step('exists', () => client.do('EXISTS', key, 'app.employee:99'));
await step('delete', () => client.do('DEL', 'app.employee:10', 'app.employee:99'));
await step('wrong type', () => client.do('HINCRBY', key, 'name', '1'));
const two = [['HGET', 'app.employee:2', 'name'], ['HINCRBY', 'app.employee:2', 'salary', '1']];
await step('pipeline', () => client.many(false, Array.from({ length: 20 }, () => two).flat()));
await step('unit', () => client.many(true, two));
const failed = await attempt(() =>
  client.many(true, [['HSET', key, 'name', 'x'], ['HSET', key, 'name', 'x'.repeat(50)]]));
tell('unit that fails', String(failed).includes('1406'));
await step('after it', () => client.do('HGET', key, 'name'));
await step('scan', () => client.scan('app.employee:*'));
await Promise.all(
  Array.from({ length: callers }, async () => {
    for (let turn = 0; turn < turns; turn++) await client.do('HINCRBY', 'app.employee:3', 'salary', '1');
  }),
);
await step('many callers', () => client.do('HGET', 'app.employee:3', 'salary'));
await client.end();
for (const [name, tls] of [['log in', false], ['log in by TLS', true]]) {
  const other = await open({ user, password, tls, name: 'app' });
  await step(name, () => other.do('HGET', 'app.employee:2', 'name'));
  await step(`${name}, what is not allowed`, () => other.do('HGET', 'app.secret:1', 'v'));
  await other.end();
}
const told = await attempt(async () => (await open({ user, password: 'wrong' })).do('HGET', key, 'name'));
tell('wrong password', /WRONGPASS|NOAUTH/.test(String(told)));
process.exit(0);
