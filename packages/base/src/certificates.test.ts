import { createPrivateKey, X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { isGoodFor, issueCertificate, makeAuthority, type Pem } from './certificates.ts';
import { hours, instant, plus } from './instant.ts';

const now = instant(1_767_225_600_000);
const hosts = ['127.0.0.1', '::1', 'localhost', 'lapse.kube-system.svc'];
let authority: Pem;
let leaf: Pem;

beforeAll(async () => {
  authority = await makeAuthority('test-ca', now, hours(1000));
  leaf = await issueCertificate({ authority, hosts, name: 'test', now, lifetime: hours(100) });
});

test('a leaf certificate is signed by its CA, matches its key, and is not a CA itself', () => {
  const ca = new X509Certificate(authority.cert);
  const cert = new X509Certificate(leaf.cert);
  expect(cert.verify(ca.publicKey)).toBe(true);
  expect(cert.checkIssued(ca)).toBe(true);
  expect(cert.checkPrivateKey(createPrivateKey(leaf.key))).toBe(true);
  expect([ca.ca, cert.ca]).toEqual([true, false]);
});

test.each(['server', 'client'] as const)(
  'a %s certificate is valid for no other purpose',
  async (shownBy) => {
    const { cert } = await issueCertificate({
      authority,
      hosts: [],
      name: 'x',
      now,
      lifetime: hours(1),
      shownBy,
    });
    const uses = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' };
    expect(new X509Certificate(cert).keyUsage).toEqual([uses[shownBy]]);
  },
);

describe('isGoodFor checks hosts and remaining lifetime', () => {
  test.each<[string, readonly string[], number, number, boolean]>([
    ['all its hosts', hosts, 0, 1, true],
    ['one of its hosts', ['::1'], 0, 1, true],
    ['another host', [...hosts, 'example.com'], 0, 1, false],
    ['another address', ['127.0.0.2'], 0, 1, false],
    ['exactly the required lifetime', hosts, 90, 10, true],
    ['less than the required lifetime', hosts, 91, 10, false],
    ['expired', hosts, 101, 0, false],
  ])('%s', (_rule, names, passed, spare, good) => {
    expect(isGoodFor(leaf.cert, names, plus(now, hours(passed)), hours(spare))).toBe(good);
  });

  test.each(['', 'x', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'])(
    '%j is not a certificate',
    (text) => {
      expect(isGoodFor(text, [], now, hours(0))).toBe(false);
    },
  );
});
