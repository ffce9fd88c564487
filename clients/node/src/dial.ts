// Makes a connection: TCP or a Unix socket, TLS, the log-in. All of it has one time-out. Nothing is sent before the log-in
// has been answered, and a password never goes over plain TCP to another machine.
import { Connection, OPTIONS } from './connection.js';
import { HandlerSocketError, ReplyError } from './errors.js';
import { endpointName, endpointOf } from './addresses.js';
import type { Address, Port } from './addresses.js';
import type { Settings } from './options.js';
import type { Owner } from './owner.js';
import { helloLine, logInLine, secretLine } from './requests.js';
import { reasonOf, secureOptions } from './secure.js';
import { Kind, Reads, Slot } from './slot.js';
import { Wire } from './wire.js';

/** Why there is no connection. */
export class DialError extends Error {
  constructor(
    message: string,
    /** What is wrong will not change by itself. */
    readonly lasting: boolean,
    /** What was wrong with the server's answer to the log-in. */
    readonly refusal?: HandlerSocketError,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

export interface Dialing {
  readonly connection: Promise<Connection>;
  /** Ends the attempt. */
  cancel(): void;
  /** Whether it keeps the process alive, as it does at first. */
  keepAlive(keeps: boolean): void;
}

const LOG_IN = new Kind('log in', undefined, Reads.Nothing, false);
// With these the network is at fault, and not what the two sides of TLS think of each other.
const TRANSIENT: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOTFOUND',
]);

export function dial(address: Address, place: number, port: Port, streams: boolean, settings: Settings, owner: Owner): Dialing {
  let wire: Wire | undefined;
  let stopped: DialError | undefined;
  let giveUp: (error: DialError) => void;
  const gaveUp = new Promise<never>((_, reject) => (giveUp = reject));
  // Nobody may be listening any more when the time is over.
  gaveUp.catch(() => undefined);
  const stop = (error: DialError): void => {
    stopped ??= error;
    giveUp(error);
    wire?.socket.destroy();
  };
  const seconds = settings.connectTimeout / 1000;
  const timer = setTimeout(() => stop(new DialError(`no connection within ${seconds} s`, false)), settings.connectTimeout);

  let keeps = true;
  const keepAlive = (whether: boolean): void => {
    keeps = whether;
    if (keeps) {
      timer.ref();
      wire?.socket.ref();
    } else {
      timer.unref();
      wire?.socket.unref();
    }
  };

  const work = async (): Promise<Connection> => {
    const credentials = await credentialsOf(settings);
    if (stopped !== undefined) throw stopped;
    const endpoint = endpointOf(address, port);
    if (endpoint === null) throw new DialError(`the address has no port for ${port === 'write' ? 'writing' : 'reading'}`, false);
    const secure = settings.tls === 'off' ? undefined : secureOptions(settings, endpoint);
    wire = new Wire(endpoint, secure);
    if (!keeps) wire.socket.unref();
    await connected(wire, secure !== undefined, endpointName(endpoint));
    if (credentials.password !== '' && secure === undefined && !isLoopback(wire.socket.remoteAddress)) {
      throw new DialError('a password is not sent over plain TCP to another machine: use TLS', true);
    }
    const connection = new Connection(wire, place, endpointName(endpoint), owner, streams);
    if (credentials.line !== undefined) await logIn(connection, credentials.line);
    if (settings.texts === 'on') connection.defer(new Slot(OPTIONS, helloLine(true)));
    return connection;
  };

  const connection = Promise.race([work(), gaveUp]).then(
    (made) => {
      clearTimeout(timer);
      // From now on the connection decides about that.
      wire?.socket.ref();
      return made;
    },
    (error: unknown) => {
      clearTimeout(timer);
      wire?.destroy();
      throw error instanceof DialError ? error : new DialError(wordsOf(error), false, undefined, error);
    },
  );
  return { connection, cancel: () => stop(new DialError('the client was closed', true)), keepAlive };
}

interface Credentials {
  readonly line: string | undefined;
  readonly password: string;
}

async function credentialsOf(settings: Settings): Promise<Credentials> {
  const { user } = settings;
  const given = async (from: typeof settings.password): Promise<string | undefined> => (typeof from === 'function' ? from() : from);
  try {
    if (user !== undefined) {
      const password = (await given(settings.password)) ?? '';
      return { line: logInLine(user, password), password };
    }
    const secret = await given(settings.secret);
    return { line: secret === undefined ? undefined : secretLine(secret), password: '' };
  } catch (error) {
    throw new DialError('the function that gives the password failed', true, undefined, error);
  }
}

function connected(wire: Wire, secure: boolean, name: string): Promise<void> {
  const { socket } = wire;
  return new Promise((resolve, reject) => {
    let overTcp = false;
    let failure: Error | undefined;
    socket.once('connect', () => (overTcp = true));
    socket.once(secure ? 'secureConnect' : 'connect', resolve);
    socket.once('error', (error) => (failure = error));
    wire.onEnd = (): void => {
      const code: unknown = (failure as NodeJS.ErrnoException | undefined)?.code;
      const lasting = secure && overTcp && failure !== undefined && !TRANSIENT.has(code);
      reject(new DialError(lasting ? tlsWordsOf(failure!, name) : closedWordsOf(failure, name), lasting, undefined, failure));
    };
  });
}

function logIn(connection: Connection, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const slot = new Slot(LOG_IN, line);
    slot.resolve = () => resolve();
    slot.reject = (error: HandlerSocketError) => {
      const refusal = error instanceof ReplyError || error.kind === 'protocol' ? error : undefined;
      // Another server may let the client in.
      const lasting = refusal !== undefined && !(refusal instanceof ReplyError && refusal.retry === 'elsewhere');
      reject(new DialError(error.message, lasting, refusal, error));
    };
    connection.push(slot);
  });
}

/** Whether a peer is this machine. A Unix socket's peer has no address. */
export function isLoopback(address: string | undefined): boolean {
  return address === undefined || /^(127\.|::1$|::ffff:127\.)/i.test(address);
}

function tlsWordsOf(failure: Error, name: string): string {
  const isPlain = (failure as NodeJS.ErrnoException).code === 'ERR_SSL_WRONG_VERSION_NUMBER';
  return `TLS with ${name} failed: ${isPlain ? 'that port does not speak TLS' : reasonOf(failure)}`;
}

function closedWordsOf(failure: Error | undefined, name: string): string {
  const words = failure === undefined ? 'the server closed the connection' : wordsOf(failure);
  return words.includes(name) ? words : `${name}: ${words}`;
}

/** `localhost` may stand for several addresses, each with an error of its own. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(wordsOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
