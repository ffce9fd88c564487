// What TLS needs: the certificates and keys of the options, and the machine's authorities.
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as net from 'node:net';
import * as tls from 'node:tls';
import { usage } from './errors.js';
import type { Settings } from './options.js';
import type { Endpoint } from './wire.js';

const AUTHORITY_FILES = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt', '/etc/ssl/cert.pem'];
let machineAuthorities: string[] | undefined;

/** The machine's authorities. Node by itself has only those that it was built with. */
function authorities(): string[] {
  machineAuthorities ??= readAuthorities();
  return machineAuthorities;
}

function readAuthorities(): string[] {
  const newer = tls as typeof tls & { getCACertificates?(type: 'default' | 'system'): string[] };
  if (newer.getCACertificates !== undefined) {
    return [...new Set([...newer.getCACertificates('default'), ...newer.getCACertificates('system')])];
  }
  const files = [process.env['SSL_CERT_FILE'], process.env['NODE_EXTRA_CA_CERTS'], ...AUTHORITY_FILES];
  const found = [...tls.rootCertificates];
  for (const file of files) {
    if (file === undefined || file === '') continue;
    try {
      found.push(readFileSync(file, 'utf8'));
    } catch {
      // A file that this kind of machine does not have.
    }
  }
  return found;
}

const contexts = new WeakMap<Settings, tls.SecureContext>();

/**
 * Reading certificates takes milliseconds, so it is done once for a client: when it is made, if its options name some, because then
 * they may be wrong, and else at its first connection.
 */
export function checkSecurity(settings: Settings): void {
  if (settings.tlsCa !== undefined || settings.tlsCert !== undefined) contextOf(settings);
}

function contextOf(settings: Settings): tls.SecureContext {
  let context = contexts.get(settings);
  if (context === undefined) {
    const { tlsCa, tlsCert, tlsKey } = settings;
    const ca = tlsCa === undefined ? undefined : pem('tlsCa', tlsCa, isCertificate, 'certificate');
    const own = tlsCert === undefined || tlsKey === undefined ? {} : pairOf(tlsCert, tlsKey);
    try {
      context = tls.createSecureContext({
        minVersion: 'TLSv1.2',
        ca: settings.tls === 'unverified' ? undefined : (ca ?? authorities()),
        ...own,
      });
    } catch (error) {
      throw usage(`the certificates of the options cannot be used: ${reasonOf(error)}`);
    }
    contexts.set(settings, context);
  }
  return context;
}

function pairOf(tlsCert: string | Uint8Array, tlsKey: string | Uint8Array): { cert: Buffer; key: Buffer } {
  const cert = pem('tlsCert', tlsCert, isCertificate, 'certificate');
  const key = pem('tlsKey', tlsKey, isKey, 'private key');
  const belong = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  if (!belong) throw usage('the key of tlsKey is not that of the certificate of tlsCert');
  return { cert, key };
}

/** A certificate or a key: its text, its bytes, or the name of its file. No error shows what is in it. */
function pem(option: string, from: string | Uint8Array, isRight: (bytes: Buffer) => boolean, what: string): Buffer {
  const isFile = typeof from === 'string' && !from.includes('\n') && !from.includes('-----BEGIN');
  const source = `the option ${option}${isFile ? `: the file ${JSON.stringify(from)}` : ''}`;
  let bytes: Buffer;
  try {
    bytes = isFile ? readFileSync(from) : Buffer.from(from as string);
  } catch (error) {
    throw usage(`${source} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'it is no name of a file'}`);
  }
  if (!isRight(bytes)) throw usage(`${source} has no ${what}`);
  return bytes;
}

function isCertificate(bytes: Buffer): boolean {
  return bytes.includes('-----BEGIN') && succeeds(() => new X509Certificate(bytes));
}

function isKey(bytes: Buffer): boolean {
  return succeeds(() => createPrivateKey(bytes));
}

function succeeds(run: () => unknown): boolean {
  try {
    run();
    return true;
  } catch {
    return false;
  }
}

/** OpenSSL's reason, without the place in its sources that stands in the message. */
export function reasonOf(error: unknown): string {
  const { reason, message } = error as Error & { reason?: unknown };
  return typeof reason === 'string' ? reason : message;
}

export function secureOptions(settings: Settings, endpoint: Endpoint): tls.ConnectionOptions {
  const host = 'host' in endpoint ? endpoint.host : '';
  const name = settings.tlsName ?? host;
  return {
    secureContext: contextOf(settings),
    rejectUnauthorized: settings.tls !== 'unverified',
    // An IP address is no name that a server can choose its certificate by.
    ...(net.isIP(name) === 0 ? { servername: name } : {}),
    checkServerIdentity: (_, certificate) => tls.checkServerIdentity(name, certificate),
  };
}
