// What an application can say about a client, in a URL or an object, and what holds if it says nothing.
import type { Address, ReadFrom } from './addresses.js';
import { usage } from './errors.js';
import type { Hooks, Logger } from './observe.js';

/** Times are milliseconds. What is left out has the default of clients/README.md. */
export interface Options {
  /** A list of addresses, or one. In a URL they are its hosts. */
  addresses?: readonly Address[];
  host?: string;
  port?: number;
  portWr?: number;
  socket?: string;
  socketWr?: string;
  /** The database of indexes that name none. */
  database?: string;
  user?: string;
  /** A function is asked at each log-in. */
  password?: string | (() => string | Promise<string>);
  secret?: string | (() => string | Promise<string>);
  tls?: 'off' | 'verify' | 'unverified';
  /** Certificates and keys: PEM, or the name of a file. */
  tlsCa?: string | Uint8Array;
  tlsName?: string;
  tlsCert?: string | Uint8Array;
  tlsKey?: string | Uint8Array;
  /** How long a call may take; 0 is without end. */
  timeout?: number;
  connectTimeout?: number;
  deadAfter?: number;
  readConnections?: number;
  writeConnections?: number;
  longConnections?: number;
  maxStreams?: number;
  /** Finds with such a limit go the way of long finds. */
  longLimit?: number;
  readAfterWrite?: 'awaited' | 'sent';
  maxInFlight?: number;
  maxInFlightBytes?: number;
  whenFull?: 'wait' | 'fail';
  /** Errors have SQL's number and state, and the message of the server, which may hold values of a row. */
  texts?: 'on' | 'off';
  maxReplyBytes?: number;
  /** How often a find that was lost with its connection is sent again. */
  retryReads?: number;
  connectAttempts?: number;
  backoffMin?: number;
  backoffMax?: number;
  readFrom?: ReadFrom;
  /** A caller that is alone gets its replies earlier, for up to 100 µs of a processor for each request. In a URL it is `on` or `off`. */
  stayAwake?: boolean;
  hooks?: Hooks;
  logger?: Logger;
}

type Optional = 'user' | 'password' | 'secret' | 'tlsCa' | 'tlsName' | 'tlsCert' | 'tlsKey' | 'hooks' | 'logger';
type AddressOption = 'host' | 'port' | 'portWr' | 'socket' | 'socketWr';

/** Options that have been checked, with every default. */
export type Settings = Readonly<Required<Omit<Options, Optional | AddressOption>> & Pick<Options, Optional>>;

const DEFAULTS = {
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
  maxInFlightBytes: 16 << 20,
  whenFull: 'wait',
  texts: 'off',
  maxReplyBytes: 256 << 20,
  retryReads: 0,
  connectAttempts: 3,
  backoffMin: 50,
  backoffMax: 5000,
  readFrom: 'writer',
  stayAwake: true,
} as const satisfies Options;

/** What each option of a URL is; the others cannot stand in one. */
export const URL_OPTIONS = {
  time: ['timeout', 'connectTimeout', 'deadAfter', 'backoffMin', 'backoffMax'],
  number: [
    'readConnections',
    'writeConnections',
    'longConnections',
    'maxStreams',
    'longLimit',
    'maxInFlight',
    'maxInFlightBytes',
    'maxReplyBytes',
    'retryReads',
    'connectAttempts',
  ],
  text: ['tls', 'tlsCa', 'tlsName', 'tlsCert', 'tlsKey', 'socket', 'socketWr', 'secret', 'readAfterWrite', 'whenFull', 'readFrom', 'texts'],
  flag: ['stayAwake'],
} as const satisfies Record<string, readonly (keyof Options)[]>;

const WORDS = {
  tls: ['off', 'verify', 'unverified'],
  readAfterWrite: ['awaited', 'sent'],
  whenFull: ['wait', 'fail'],
  texts: ['on', 'off'],
  readFrom: ['writer', 'any', 'replicas'],
} as const;
const TLS_OPTIONS = ['tlsCa', 'tlsName', 'tlsCert', 'tlsKey'] as const;
const FROM_ZERO: ReadonlySet<string> = new Set(['timeout', 'retryReads']);
// A string cannot be longer, and a reply is a string.
const LONGEST_REPLY = 0x1fffffe8;
const LONGEST_TIME = 2 ** 31 - 1;
const DEFAULT_PORTS = { port: 9998, portWr: 9999 };
const ADDRESS_OPTIONS: readonly AddressOption[] = ['host', 'port', 'portWr', 'socket', 'socketWr'];
const OTHERS = ['addresses', 'database', 'user', 'password', 'hooks', 'logger'];
const KNOWN: ReadonlySet<string> = new Set([...ADDRESS_OPTIONS, ...OTHERS, ...Object.values(URL_OPTIONS).flat()]);

/** What is undefined was not said. */
export function givenOf(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

export function settle(options: Options): Settings {
  for (const name of Object.keys(options)) if (!KNOWN.has(name)) throw usage(`there is no option ${JSON.stringify(name)}`);
  const given = givenOf(options);
  const settings = { ...DEFAULTS, ...given, addresses: addressesOf(given) };
  for (const name of ADDRESS_OPTIONS) delete settings[name];
  for (const name of [...URL_OPTIONS.time, ...URL_OPTIONS.number]) checkNumber(name, settings[name]);
  for (const [name, words] of Object.entries(WORDS)) {
    const word = settings[name as keyof typeof WORDS];
    if (!(words as readonly unknown[]).includes(word)) throw usage(`the option ${name} is one of ${words.join(', ')}`);
  }
  if (typeof settings.stayAwake !== 'boolean') throw usage('the option stayAwake is true or false');
  check(settings);
  return Object.freeze(settings);
}

function checkNumber(name: string, value: unknown): void {
  const least = FROM_ZERO.has(name) ? 0 : 1;
  const isTime = (URL_OPTIONS.time as readonly string[]).includes(name);
  const most = isTime ? LONGEST_TIME : Number.MAX_SAFE_INTEGER;
  const right = typeof value === 'number' && value >= least && value <= most && (isTime || Number.isInteger(value));
  if (!right) throw usage(`the option ${name} is a number from ${least} to ${most}`);
}

function check(settings: Settings): void {
  if (settings.maxReplyBytes > LONGEST_REPLY) throw usage(`the option maxReplyBytes is at most ${LONGEST_REPLY}`);
  if (settings.user !== undefined && settings.secret !== undefined) throw usage('user and secret together: a client logs in in one way');
  if (settings.user === undefined && settings.password !== undefined) throw usage('a password without a user');
  if (settings.readAfterWrite === 'sent' && settings.writeConnections !== 1) throw usage("readAfterWrite 'sent' needs writeConnections 1");
  const unused = settings.tls === 'off' ? TLS_OPTIONS.find((name) => settings[name] !== undefined) : undefined;
  if (unused !== undefined) throw usage(`the option ${unused} is for TLS: set tls to 'verify' or 'unverified'`);
  if ((settings.tlsCert === undefined) !== (settings.tlsKey === undefined)) throw usage('tlsCert and tlsKey belong together');
  if (settings.tls !== 'off' && settings.addresses.some(({ socket, socketWr }) => socket ?? socketWr)) {
    throw usage('TLS on a Unix socket is not possible, nor necessary');
  }
}

function addressesOf(options: Options): readonly Address[] {
  const one = ADDRESS_OPTIONS.some((name) => options[name] !== undefined);
  if (options.addresses === undefined) {
    return [checkedAddress(one ? Object.fromEntries(ADDRESS_OPTIONS.map((name) => [name, options[name]])) : {})];
  }
  if (one) throw usage('either addresses, or one address: host, port, portWr, socket, socketWr');
  if (options.addresses.length === 0) throw usage('the list of addresses is empty');
  return options.addresses.map(checkedAddress);
}

function checkedAddress(address: Address): Address {
  const { socket, socketWr, host = '127.0.0.1', port, portWr } = address;
  if (socket !== undefined || socketWr !== undefined) {
    if (address.host !== undefined || port !== undefined || portWr !== undefined)
      throw usage('an address is either a host, or Unix sockets');
    return { ...(socket === undefined ? {} : { socket }), ...(socketWr === undefined ? {} : { socketWr }) };
  }
  for (const number of [port, portWr]) {
    if (number !== undefined && !(Number.isInteger(number) && number > 0 && number < 65536))
      throw usage('a port is a number from 1 to 65535');
  }
  if (port === undefined && portWr === undefined) return { host, ...DEFAULT_PORTS };
  return { host, ...(port === undefined ? {} : { port }), ...(portWr === undefined ? {} : { portWr }) };
}
