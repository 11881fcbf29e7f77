// The certificates of a server that stands alone: a CA made on first start and a leaf for loopback signed by it.
// Keys are EC P-256; the files are readable by their owner only.

import { webcrypto } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { hours, type Instant, instant, toDate } from '#base/instant';

export interface ServingCertificate {
  /** PEM of the CA that clients trust. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

const FILES = { ca: 'ca.crt', caKey: 'ca.key', cert: 'server.crt', key: 'server.key' } as const;
const CA_YEARS = 10;
const LEAF_DAYS = 365;
// A leaf that ends sooner than this is made anew at start.
const RENEW = hours(30 * 24);

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** Reads the certificates of `directory`, making what is missing, expired or for other hosts. */
export async function servingCertificate(
  directory: string,
  hosts: readonly string[],
  now: Instant,
): Promise<ServingCertificate> {
  const x509 = await loadLibrary();
  const path = (name: keyof typeof FILES) => join(directory, FILES[name]);
  const pair =
    existsSync(path('ca')) && existsSync(path('caKey')) ? undefined : await makeAuthority(x509, now);
  if (pair) {
    writePrivate(path('caKey'), pair.key);
    writePrivate(path('ca'), pair.cert);
  }
  const ca = readFileSync(path('ca'), 'utf8');
  if (pair || !leafFits(x509, path('cert'), path('key'), hosts, now)) {
    const leaf = await makeLeaf(x509, { ca, caKey: readFileSync(path('caKey'), 'utf8'), hosts, now });
    writePrivate(path('key'), leaf.key);
    writePrivate(path('cert'), leaf.cert);
  }
  return { ca, cert: readFileSync(path('cert'), 'utf8'), key: readFileSync(path('key'), 'utf8') };
}

export const writePrivate = (file: string, text: string) => writeFileSync(file, text, { mode: 0o600 });

type Library = typeof import('@peculiar/x509');

/** Loaded only when needed: it costs start-up time and patches Reflect. */
async function loadLibrary(): Promise<Library> {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(webcrypto);
  return x509;
}

async function makeAuthority(x509: Library, now: Instant): Promise<{ cert: string; key: string }> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: 'CN=lapse-ca',
    notBefore: toDate(instant(now - hours(1))),
    notAfter: toDate(instant(now + hours(CA_YEARS * 365 * 24))),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ],
  });
  return { cert: cert.toString('pem'), key: await exportKey(x509, keys.privateKey) };
}

async function makeLeaf(
  x509: Library,
  { ca, caKey, hosts, now }: { ca: string; caKey: string; hosts: readonly string[]; now: Instant },
): Promise<{ cert: string; key: string }> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const cert = await x509.X509CertificateGenerator.create({
    serialNumber: serial(),
    subject: 'CN=lapse',
    issuer: new x509.X509Certificate(ca).subject,
    notBefore: toDate(instant(now - hours(1))),
    notAfter: toDate(instant(now + hours(LEAF_DAYS * 24))),
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey: await importKey(x509, caKey),
    extensions: [
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        hosts.map((value) => ({ type: isIP(value) ? 'ip' : 'dns', value })),
      ),
    ],
  });
  return { cert: cert.toString('pem'), key: await exportKey(x509, keys.privateKey) };
}

const serial = () => Buffer.from(webcrypto.getRandomValues(new Uint8Array(16))).toString('hex');

async function exportKey(x509: Library, key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}

async function importKey(x509: Library, pem: string): Promise<webcrypto.CryptoKey> {
  return webcrypto.subtle.importKey('pkcs8', x509.PemConverter.decodeFirst(pem), ALGORITHM, false, ['sign']);
}

function leafFits(
  x509: Library,
  certFile: string,
  keyFile: string,
  hosts: readonly string[],
  now: Instant,
): boolean {
  if (!existsSync(certFile) || !existsSync(keyFile)) return false;
  const leaf = new x509.X509Certificate(readFileSync(certFile, 'utf8'));
  if (leaf.notAfter.getTime() - now < RENEW) return false;
  const names =
    leaf
      .getExtension(x509.SubjectAlternativeNameExtension)
      ?.names.toJSON()
      .map((n) => n.value) ?? [];
  return hosts.every((host) => names.includes(host));
}
