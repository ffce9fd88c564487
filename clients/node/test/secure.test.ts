// Certificates and keys that cannot be used are refused when the client is made.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import { after, suite, test } from 'node:test';
import { Client } from '../src/index.js';
import type { Options } from '../src/index.js';

const folder = mkdtempSync(path.join(tmpdir(), 'hs-secure-'));
const file = (name: string, text: string | Buffer): string => {
  const place = path.join(folder, name);
  writeFileSync(place, text);
  return place;
};
const certificate = rootCertificates[0]!;
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

suite('what TLS needs', () => {
  after(() => rmSync(folder, { recursive: true }));
  const missing = path.join(folder, 'missing.pem');
  const garbage = file('garbage.pem', 'no certificate\n');
  const cut = file('cut.pem', certificate.slice(0, 200));
  const fine = file('fine.pem', certificate);
  const fineKey = file('key.pem', key);
  const wrong: [string, Options, string[]][] = [
    ['authorities that are missing', { tlsCa: missing }, ['tlsCa', missing, 'ENOENT']],
    ['authorities that are a folder', { tlsCa: folder }, ['tlsCa', folder, 'EISDIR']],
    ['authorities that are none', { tlsCa: garbage }, ['tlsCa', garbage, 'no certificate']],
    ['authorities that are cut', { tlsCa: cut }, ['tlsCa', cut, 'no certificate']],
    ['authorities that are a key', { tlsCa: fineKey }, ['tlsCa', fineKey, 'no certificate']],
    ['authorities of no bytes', { tlsCa: Buffer.alloc(0) }, ['tlsCa', 'no certificate']],
    ['authorities as a text that is cut', { tlsCa: certificate.slice(0, 200) }, ['tlsCa has no certificate']],
    ['no name of a file', { tlsCa: 'a\0b' }, ['tlsCa', 'cannot be read']],
    ['a certificate that is missing', { tlsCert: missing, tlsKey: fineKey }, ['tlsCert', missing]],
    ['a certificate that is none', { tlsCert: garbage, tlsKey: fineKey }, ['tlsCert', garbage, 'no certificate']],
    ['a key that is missing', { tlsCert: fine, tlsKey: missing }, ['tlsKey', missing]],
    ['a key that is none', { tlsCert: fine, tlsKey: fine }, ['tlsKey', fine, 'no private key']],
    ['a key of another certificate', { tlsCert: fine, tlsKey: fineKey }, ['tlsKey', 'tlsCert']],
  ];
  for (const [why, options, words] of wrong) {
    test(`${why}: refused`, () => {
      for (const tls of ['verify', 'unverified'] as const) {
        assert.throws(
          () => new Client({ ...options, tls }),
          (error: Error & { kind?: string }) => {
            assert.equal(error.kind, 'usage');
            for (const word of words) assert.ok(error.message.includes(word), `${word}: ${error.message}`);
            assert.ok(!error.message.includes('BEGIN') && !error.message.includes(key.split('\n')[1]!), error.message);
            return true;
          },
        );
      }
    });
  }

  test('in a URL, too', () => {
    assert.throws(() => new Client(`handlersocket://h/d?tls=verify&tls_ca=${encodeURIComponent(garbage)}`), { kind: 'usage' });
  });

  test('what is right: as a file, a text, or bytes', () => {
    for (const tlsCa of [fine, certificate, Buffer.from(certificate), `a remark\n${certificate}\n${certificate}`]) {
      assert.match(String(new Client({ tls: 'verify', tlsCa })), /with TLS/);
    }
  });
});
