// An application's work by memjs (binary) or memcached (text), as published. Prints what each step has answered, as JSON.
//
// Its arguments: the client, the port; and, unless it is a memcached, an account and its password.
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';

const [how, port, user, password] = process.argv.slice(2);
const callers = 4;
const turns = 25;
const place = `127.0.0.1:${port}`;

// Each library as what the steps need. What is not there is null.
const libraries = {
  memjs: async (options = {}) => {
    const { default: memjs } = await import('memjs');
    const quiet = { log: () => {} };
    const client = memjs.Client.create(place, { timeout: 20, retries: 1, logger: quiet, ...options });
    const expires = (seconds) => ({ expires: seconds });
    const get = async (key) => (await client.get(key)).value;
    return {
      get: async (key) => (await get(key))?.toString() ?? null,
      bytes: get,
      set: (key, value, seconds) => client.set(key, value, expires(seconds)),
      add: (key, value, seconds) => client.add(key, value, expires(seconds)),
      replace: (key, value, seconds) => client.replace(key, value, expires(seconds)),
      append: (key, value) => client.append(key, value),
      incr: async (key, by) => (await client.increment(key, by, { expires: 100 })).value,
      decr: async (key, by) => (await client.decrement(key, by, { expires: 100 })).value,
      delete: (key) => client.delete(key),
      touch: (key, seconds) => client.touch(key, seconds),
      many: async (keys) => {
        const values = await Promise.all(keys.map(async (key) => [key, (await get(key))?.toString()]));
        return Object.fromEntries(values.filter(([, value]) => value !== undefined));
      },
      end: () => client.close(),
    };
  },
  memcached: async (options = {}) => {
    const { default: Memcached } = await import('memcached');
    const client = new Memcached(place, { timeout: 20000, retries: 0, ...options });
    const call = (name) => promisify(client[name]).bind(client);
    const get = async (key) => (await call('get')(key)) ?? null;
    // What was not stored is an error of this library.
    const stored = (name) => (...words) =>
      call(name)(...words).catch((error) => {
        if (error.notStored) return false;
        throw error;
      });
    return {
      get,
      object: get,
      bytes: get,
      set: call('set'),
      add: stored('add'),
      replace: stored('replace'),
      append: call('append'),
      prepend: call('prepend'),
      gets: async (key) => (await call('gets')(key)).cas,
      cas: (key, value, cas, seconds) => call('cas')(key, value, cas, seconds),
      incr: call('incr'),
      decr: call('decr'),
      delete: call('del'),
      touch: call('touch'),
      many: (keys) => call('getMulti')(keys),
      end: () => client.end(),
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

const open = libraries[how];
const client = await open();
tell('nothing', (await client.get('none')) === null);
tell('set', await client.set('text', 'Grüße', 100));
tell('get', await client.get('text'));
if (client.object) {
  await client.set('object', { a: [1, null] }, 100);
  tell('an object', JSON.stringify(await client.object('object')) === '{"a":[1,null]}');
}
const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
await client.set('bytes', bytes, 100);
tell('bytes', bytes.equals(await client.bytes('bytes')));
await client.set('large', 'x'.repeat(900000), 100);
tell('a large one', (await client.get('large')).length);
tell('add', [await client.add('text', 'other', 100), await client.add('new', 'x', 100)]);
tell('replace', [await client.replace('text', 'b', 100), await client.replace('none', 'b', 100)]);
// memjs 1.3 sends an append for a prepend.
await (client.prepend ? client.prepend('text', 'a') : client.set('text', 'ab', 100));
await client.append('text', 'c');
tell('append and prepend', await client.get('text'));
if (client.cas) {
  const seen = await client.gets('text');
  const won = await client.cas('text', 'won', seen, 100);
  tell('cas', [won, await client.cas('text', 'lost', seen, 100), await client.get('text')]);
}
await client.set('counter', '0', 100);
tell('count', [await client.incr('counter', 7), await client.decr('counter', 9)]);
const keys = Array.from({ length: 150 }, (_, i) => `many${i}`);
await Promise.all(keys.map((key) => client.set(key, `value of ${key}`, 100)));
const many = await client.many([...keys, 'none']);
tell('get many', Object.keys(many).length === 150 && keys.every((key) => many[key] === `value of ${key}`));
tell('delete', [await client.delete('new'), await client.delete('new')]);
// An item of one second lives until the next second begins, which may be before it is touched.
await client.set('short', 'x', 1);
await client.set('long', 'x', 2);
tell('touch', await client.touch('long', 100));
await sleep(2000);
tell('expired', [(await client.get('short')) === null, await client.get('long')]);
await Promise.all(
  Array.from({ length: callers }, async () => {
    const own = await open();
    for (let turn = 0; turn < turns; turn++) await own.incr('counter', 1);
    own.end();
  }),
);
tell('many callers', Number(await client.get('counter')));
if (user && how === 'memjs') {
  const other = await open({ username: user, password });
  tell('log in', await other.get('long'));
  tell('log in, what is not allowed', await attempt(() => other.set('long', 'y', 100)));
  const wrong = await open({ username: user, password: 'wrong' });
  tell('wrong password', String(await attempt(() => wrong.get('long'))).startsWith('error: '));
  // Somebody holds this item meanwhile. Who has lost its patience connects again.
  const hasty = await open({ timeout: 0.3, retries: 0 });
  tell('time-out', String(await attempt(() => hasty.incr('locked', 1))).startsWith('error: '));
  tell('after a time-out', await (await open()).get('long'));
}
process.exit(0);
