// Reads a URL: handlersocket://user:password@host:9998,9999/db?timeout=5s. It may name several hosts, so it is no URL that
// the platform's own reader knows.
import type { Address } from './addresses.js';
import { usage } from './errors.js';
import { URL_OPTIONS } from './options.js';
import type { Options } from './options.js';

const SCHEME = 'handlersocket://';
const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000 };

export function optionsOfUrl(url: string): Options {
  if (!url.startsWith(SCHEME)) throw usage(`a URL begins with ${SCHEME}`);
  if (/[\s#]/.test(url)) throw usage('a URL has neither blanks nor a #');
  const [, authority, path, query] = /^([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/.exec(url.slice(SCHEME.length))!;
  const options: Options = query === undefined ? {} : optionsOfQuery(query);
  const at = authority!.lastIndexOf('@');
  if (at >= 0) {
    const [user, ...password] = authority!.slice(0, at).split(':');
    options.user = decode(user!, 'the user');
    if (options.user === '') throw usage('the URL has no user in front of its @');
    if (password.join(':') !== '') options.password = decode(password.join(':'), 'the password');
  }
  if (path?.includes('/') === true) throw usage('the URL has more than a database behind its hosts: a slash is written %2F');
  if (path !== undefined && path !== '') options.database = decode(path, 'the database');
  const hosts = authority!.slice(at + 1);
  if (hosts !== '') options.addresses = addressesOf(hosts);
  return options;
}

function decode(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw usage(`${what} in the URL has a wrong %`);
  }
}

// A host in brackets or not, and what stands behind its colon.
const HOST = /^(?:\[([0-9a-fA-F:.]+)\]|([^[\]:@]+))(?::(\d*))?$/;

// No error shows a piece: it may be a password whose @ is missing.
function addressesOf(hosts: string): Address[] {
  const addresses: Address[] = [];
  const pieces = hosts.split(',');
  for (let i = 0; i < pieces.length; i++) {
    const [, brackets, name, port] = HOST.exec(pieces[i]!) ?? [];
    const host = brackets ?? decode(name ?? '', 'a host');
    if (host === '' || /^\d+$/.test(host)) throw usage('a host in the URL has no name, or an IPv6 address has no brackets');
    const next = pieces[i + 1];
    const portWr = next !== undefined && /^\d+$/.test(next) ? next : undefined;
    if (portWr !== undefined) i += 1;
    if (port === undefined && portWr !== undefined)
      throw usage('a host in the URL has a port for writing behind a comma, and no colon before it');
    if (port === '' && portWr === undefined) throw usage('a host in the URL has a colon and no port');
    addresses.push({ host, ...(port ? { port: Number(port) } : {}), ...(portWr === undefined ? {} : { portWr: Number(portWr) }) });
  }
  return addresses;
}

function optionsOfQuery(query: string): Options {
  const options: Record<string, string | number | boolean> = {};
  for (const pair of query.split('&')) {
    const [name, ...rest] = pair.split('=');
    const text = decode(rest.join('='), JSON.stringify(name));
    const option = name!.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (text === '') throw usage(`${name} has no value in the URL`);
    if (option in options) throw usage(`${name} comes twice in the URL`);
    const is = (names: readonly string[]): boolean => names.includes(option) && !/[A-Z]/.test(name!);
    if (is(URL_OPTIONS.time)) options[option] = timeOf(text, name!);
    else if (is(URL_OPTIONS.number)) options[option] = numberOf(text, name!);
    else if (is(URL_OPTIONS.text)) options[option] = text;
    else if (is(URL_OPTIONS.flag)) options[option] = flagOf(text, name!);
    else throw usage(`the URL has an unknown option ${JSON.stringify(name)}`);
  }
  return options as Options;
}

function numberOf(text: string, name: string): number {
  if (!/^\d{1,15}$/.test(text)) throw usage(`${name} is a number`);
  return Number(text);
}

function timeOf(text: string, name: string): number {
  const [, number, unit] = /^(\d{1,12})(ms|s|m)$/.exec(text) ?? [];
  if (number === undefined) throw usage(`${name} is a whole number with ms, s or m`);
  return Number(number) * UNITS[unit!]!;
}

function flagOf(text: string, name: string): boolean {
  if (text !== 'on' && text !== 'off') throw usage(`${name} is on or off`);
  return text === 'on';
}

/** What the environment says, where the application has not. */
export function withEnvironment(options: Options, environment: NodeJS.ProcessEnv): Options {
  const { HANDLERSOCKET_PASSWORD: password, HANDLERSOCKET_SECRET: secret } = environment;
  const result = { ...options };
  if (result.user !== undefined && result.password === undefined && password !== undefined) result.password = password;
  if (result.user === undefined && result.secret === undefined && secret !== undefined) result.secret = secret;
  return result;
}
