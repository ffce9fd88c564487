// URLs, options and the environment.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { inspect } from 'node:util';
import { Client, HandlerSocketError } from '../src/index.js';
import { settle } from '../src/options.js';
import type { Options } from '../src/options.js';
import { optionsOfUrl, withEnvironment } from '../src/url.js';
import { vectors } from './vectors.js';

const RIGHT: [string, Options][] = [
  ['handlersocket://', {}],
  ['handlersocket:///app', { database: 'app' }],
  ['handlersocket://db', { addresses: [{ host: 'db' }] }],
  ['handlersocket://db:1/app', { addresses: [{ host: 'db', port: 1 }], database: 'app' }],
  ['handlersocket://db:1,2', { addresses: [{ host: 'db', port: 1, portWr: 2 }] }],
  ['handlersocket://db:,2', { addresses: [{ host: 'db', portWr: 2 }] }],
  [
    'handlersocket://a,b:1,2,[::1]:3,4,c:5',
    { addresses: [{ host: 'a' }, { host: 'b', port: 1, portWr: 2 }, { host: '::1', port: 3, portWr: 4 }, { host: 'c', port: 5 }] },
  ],
  [
    'handlersocket://a:1,2,a:1,2',
    {
      addresses: [
        { host: 'a', port: 1, portWr: 2 },
        { host: 'a', port: 1, portWr: 2 },
      ],
    },
  ],
  ['handlersocket://u%40x:p%3A%2F@db/gr%C3%BCn', { user: 'u@x', password: 'p:/', addresses: [{ host: 'db' }], database: 'grün' }],
  ['handlersocket://u:a:b@db', { user: 'u', password: 'a:b', addresses: [{ host: 'db' }] }],
  ['handlersocket://u@db', { user: 'u', addresses: [{ host: 'db' }] }],
  [
    'handlersocket:///db?socket=/run/hs.sock&socket_wr=/run/hs_wr.sock',
    { database: 'db', socket: '/run/hs.sock', socketWr: '/run/hs_wr.sock' },
  ],
  [
    'handlersocket://db?tls=verify&tls_ca=%2Fca.pem&timeout=5s&connect_timeout=250ms&dead_after=2m&retry_reads=2',
    { addresses: [{ host: 'db' }], tls: 'verify', tlsCa: '/ca.pem', timeout: 5000, connectTimeout: 250, deadAfter: 120_000, retryReads: 2 },
  ],
  ['handlersocket://u@/app', { user: 'u', database: 'app' }],
  ['handlersocket://db?secret=a+b', { addresses: [{ host: 'db' }], secret: 'a+b' }],
  ['handlersocket://db?tls=verify&tls_name=a+b%20c', { addresses: [{ host: 'db' }], tls: 'verify', tlsName: 'a+b c' }],
  ['handlersocket://db?stay_awake=off', { addresses: [{ host: 'db' }], stayAwake: false }],
  ['handlersocket://db?stay_awake=on', { addresses: [{ host: 'db' }], stayAwake: true }],
  ['handlersocket://db?timeout=0s', { addresses: [{ host: 'db' }], timeout: 0 }],
  [
    'handlersocket://db?secret=s%26t&when_full=fail&read_from=any&read_after_write=sent',
    { addresses: [{ host: 'db' }], secret: 's&t', whenFull: 'fail', readFrom: 'any', readAfterWrite: 'sent' },
  ],
];

const WRONG = [
  'mysql://db',
  'handlersocket:/db',
  'handlersocket://db#x',
  'handlersocket://d b',
  'handlersocket://,db',
  'handlersocket://db,',
  'handlersocket://::1',
  'handlersocket://[::1',
  'handlersocket://db:x',
  'handlersocket://db:',
  'handlersocket://db:1,2,3',
  'handlersocket://db,9999',
  'handlersocket://9998',
  'handlersocket://u:p%@db',
  'handlersocket://db?nosuch=1',
  'handlersocket://db?tls',
  'handlersocket://db?tls=maybe',
  'handlersocket://db?timeout=5',
  'handlersocket://:p@db',
  'handlersocket://db/a/b',
  'handlersocket://db?secret=',
  'handlersocket://db?tls=verify&tls_name=',
  'handlersocket:///?socket_wr=',
  'handlersocket://db?tls=verify&tls_key=y',
  'handlersocket://db?timeout=5h',
  'handlersocket://db?stay_awake=true',
  'handlersocket://db?stayAwake=on',
  'handlersocket://db?timeout=1.5m',
  'handlersocket://db?timeout=-1s',
  'handlersocket://db?dead_after=0s',
  'handlersocket://db?connect_timeout=0s',
  'handlersocket://db?backoff_min=0s',
  'handlersocket://db?backoff_max=0ms',
  'handlersocket://db?tls_ca=/ca.pem',
  'handlersocket://db?tls=off&tls_name=db',
  'handlersocket://db?timeout=5s&timeout=6s',
  'handlersocket://db?connectTimeout=5s',
  'handlersocket://db?max_in_flight=0',
  'handlersocket://db?max_in_flight=x',
  'handlersocket://db?max_in_flight=1.5',
  'handlersocket://db?password=x',
  'handlersocket://db:0',
  'handlersocket://db:65536',
  'handlersocket://db?socket=/a',
  'handlersocket:///db?socket=/a&tls=verify',
  'handlersocket://u@db?secret=x',
  'handlersocket://db?read_after_write=sent&write_connections=2',
];

const isUsage = (error: unknown): boolean => error instanceof HandlerSocketError && error.kind === 'usage';

suite('URLs', () => {
  for (const [url, options] of RIGHT) test(url, () => assert.deepEqual(optionsOfUrl(url), options));
  for (const url of WRONG) test(`refused: ${url}`, () => assert.throws(() => settle(optionsOfUrl(url)), isUsage));

  test('no error shows a password', () => {
    for (const url of [
      'handlersocket://user:hidden',
      'handlersocket://user:hid%den@db',
      'handlersocket://u:x:hid%den@db',
      'handlersocket://db?secret=hidden&x=1',
    ]) {
      assert.throws(
        () => settle(optionsOfUrl(url)),
        (error) => isUsage(error) && !inspect(error).replace(/at .*/gs, '').includes('hid'),
      );
    }
  });
});

interface UrlVector {
  url: string;
  why: string;
  error?: string;
  addresses?: ({ host: string; read: number | null; write: number | null } | { socket: string | null; socket_wr: string | null })[];
  user?: string;
  password?: string;
  secret?: string;
  database?: string;
  options?: Record<string, string | number>;
}

/** The client that a URL describes, in the words of urls.json; options alone that were asked for. */
function described(url: string, asked: readonly string[]): Omit<UrlVector, 'url' | 'why'> {
  const settings = settle(optionsOfUrl(url));
  const { user, password, secret, database } = settings;
  const addresses = settings.addresses.map(({ host, port = null, portWr = null, socket = null, socketWr = null }) =>
    host === undefined ? { socket, socket_wr: socketWr } : { host, read: port, write: portWr },
  );
  const option = (name: string): unknown => {
    const camel = name.replace(/_ms$/, '').replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const value = settings[camel as keyof typeof settings];
    return typeof value === 'boolean' ? (value ? 'on' : 'off') : value;
  };
  const options = Object.fromEntries(asked.map((name) => [name, option(name)])) as Record<string, string | number>;
  const all = { addresses, user, password, secret, database, ...(asked.length === 0 ? {} : { options }) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== '')) as Omit<UrlVector, 'url' | 'why'>;
}

suite('urls.json', () => {
  for (const { url, why, error, ...wanted } of vectors<UrlVector>('urls')) {
    test(`${url}: ${why}`, () => {
      if (error === undefined) assert.deepEqual(described(url, Object.keys(wanted.options ?? {})), wanted);
      else assert.throws(() => settle(optionsOfUrl(url)), { kind: error });
    });
  }
});

suite('options', () => {
  test('the defaults are those of clients/README.md', () => {
    assert.deepEqual(settle({}), {
      addresses: [{ host: '127.0.0.1', port: 9998, portWr: 9999 }],
      database: '',
      tls: 'off',
      timeout: 30_000,
      connectTimeout: 10_000,
      deadAfter: 60_000,
      readConnections: 1,
      writeConnections: 1,
      longConnections: 1,
      maxStreams: 8,
      longLimit: 1000,
      readAfterWrite: 'awaited',
      maxInFlight: 10_000,
      maxInFlightBytes: 16 * 1024 * 1024,
      whenFull: 'wait',
      texts: 'off',
      maxReplyBytes: 256 * 1024 * 1024,
      retryReads: 0,
      connectAttempts: 3,
      backoffMin: 50,
      backoffMax: 5000,
      readFrom: 'writer',
      stayAwake: true,
    });
  });

  test('what is refused', () => {
    const wrong = [
      { nosuch: 1 },
      { timeout: -1 },
      { timeout: NaN },
      { timeout: '5s' },
      { maxStreams: 0 },
      { addresses: [] },
      { addresses: [{ host: 'a' }], host: 'b' },
      { host: 'a', socket: '/b' },
      { port: 1.5 },
      { password: 'x' },
      { user: 'a', secret: 'b' },
      { tls: true },
      { maxReplyBytes: 2 ** 30 },
      { socket: '/a', tls: 'verify' },
      { stayAwake: 'on' },
      { connectTimeout: 0 },
      { backoffMin: 0 },
      { deadAfter: 0 },
    ];
    for (const options of wrong) assert.throws(() => new Client(options as Options), isUsage, JSON.stringify(options));
  });

  test('an option of TLS without TLS is refused by its name', () => {
    for (const name of ['tlsCa', 'tlsName', 'tlsCert', 'tlsKey'] as const) {
      for (const tls of [{}, { tls: 'off' }] as const) {
        assert.throws(
          () => new Client({ ...tls, [name]: 'x' }),
          (error) => isUsage(error) && (error as Error).message.includes(name),
        );
      }
    }
  });

  test('without a host and a socket it is this machine', () => {
    for (const url of ['handlersocket://', 'handlersocket:///app', 'handlersocket://u:p@/app?timeout=0s']) {
      assert.deepEqual(settle(optionsOfUrl(url)).addresses, [{ host: '127.0.0.1', port: 9998, portWr: 9999 }], url);
    }
  });

  test('an undefined option takes nothing away from the URL', () => {
    const nothing = { addresses: undefined, database: undefined, user: undefined } as unknown as Options;
    assert.match(String(new Client('handlersocket://u:p@there/app', nothing)), /u@there:9998\/app$/);
  });

  test('undefined is as if it were not there', () => assert.equal(settle({ timeout: undefined } as unknown as Options).timeout, 30_000));

  test('the environment takes the place of what the URL has not', () => {
    const environment = { HANDLERSOCKET_PASSWORD: 'p', HANDLERSOCKET_SECRET: 's' };
    assert.deepEqual(withEnvironment({}, environment), { secret: 's' });
    assert.deepEqual(withEnvironment({ user: 'u' }, environment), { user: 'u', password: 'p' });
    assert.deepEqual(withEnvironment({ user: 'u', password: 'own' }, environment), { user: 'u', password: 'own' });
    assert.deepEqual(withEnvironment({ secret: 'own' }, environment), { secret: 'own' });
  });

  test('HANDLERSOCKET_URL is for a client without a URL and without an address', () => {
    process.env['HANDLERSOCKET_URL'] = 'handlersocket://elsewhere:1,2/app';
    try {
      assert.match(String(new Client()), /elsewhere:1\/app/);
      assert.match(String(new Client({ timeout: 1 })), /elsewhere:1\/app/);
      assert.match(String(new Client({ host: 'here' })), /here:9998\/$/);
      assert.match(String(new Client('handlersocket://there')), /there:9998\/$/);
      assert.throws(() => new Client(''), isUsage);
    } finally {
      delete process.env['HANDLERSOCKET_URL'];
    }
  });

  test('an empty URL is none, and an empty HANDLERSOCKET_URL is not set', () => {
    for (const options of [{}, { host: 'here' }]) assert.throws(() => new Client('', options), isUsage);
    process.env['HANDLERSOCKET_URL'] = '';
    try {
      assert.match(String(new Client()), /127\.0\.0\.1:9998\/$/);
    } finally {
      delete process.env['HANDLERSOCKET_URL'];
    }
  });

  test('a client shows neither password nor secret', () => {
    const clients = [
      new Client('handlersocket://user:hidden@db/app'),
      new Client('handlersocket://db?secret=hidden'),
      new Client({ user: 'u', password: () => 'hidden' }),
    ];
    for (const client of clients) {
      for (const shown of [String(client), inspect(client, { depth: 10, showHidden: true }), JSON.stringify(client), inspect({ client })]) {
        assert.ok(!shown.includes('hidden'), shown);
      }
    }
  });
});
