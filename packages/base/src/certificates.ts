// Issues X.509 certificates: a CA, and leaf certificates for hosts signed by it. Keys are EC P-256, everything is PEM.
// The caller stores the results.

import { webcrypto, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { hours, type Instant, instant, type Millis, parseTime, toDate } from './instant.ts';

export interface Pem {
  readonly cert: string;
  readonly key: string;
}

export interface Issuance {
  readonly authority: Pem;
  /** DNS names and IP addresses the certificate is valid for. */
  readonly hosts: readonly string[];
  readonly name: string;
  /** The side of the TLS connection that presents the certificate. Default: server. */
  readonly shownBy?: 'server' | 'client';
  readonly now: Instant;
  readonly lifetime: Millis;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
/** Certificates are valid from one hour ago, because clocks of other machines may be behind. */
const BACKDATED = hours(1);

type Library = typeof import('@peculiar/x509');

/** Loaded only when needed: it costs start-up time and patches Reflect. */
async function loadLibrary(): Promise<Library> {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(webcrypto);
  return x509;
}

export async function makeAuthority(name: string, now: Instant, lifetime: Millis): Promise<Pem> {
  const x509 = await loadLibrary();
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: `CN=${name}`,
    ...validity(now, lifetime),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ],
  });
  return { cert: cert.toString('pem'), key: await exportKey(x509, keys.privateKey) };
}

/** Issues a server or client certificate. A client certificate needs no hosts. */
export async function issueCertificate(issuance: Issuance): Promise<Pem> {
  const { authority, hosts, name, now, lifetime, shownBy = 'server' } = issuance;
  const x509 = await loadLibrary();
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const cert = await x509.X509CertificateGenerator.create({
    serialNumber: serial(),
    subject: `CN=${name}`,
    issuer: new x509.X509Certificate(authority.cert).subject,
    ...validity(now, lifetime),
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey: await importKey(x509, authority.key),
    extensions: [
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage[`${shownBy}Auth`]]),
      ...(hosts.length === 0
        ? []
        : [
            new x509.SubjectAlternativeNameExtension(
              hosts.map((value) => ({ type: isIP(value) ? 'ip' : 'dns', value })),
            ),
          ]),
    ],
  });
  return { cert: cert.toString('pem'), key: await exportKey(x509, keys.privateKey) };
}

const validity = (now: Instant, lifetime: Millis) => ({
  notBefore: toDate(instant(now - BACKDATED)),
  notAfter: toDate(instant(now + lifetime)),
});

const serial = () => Buffer.from(webcrypto.getRandomValues(new Uint8Array(16))).toString('hex');

async function exportKey(x509: Library, key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}

async function importKey(x509: Library, pem: string): Promise<webcrypto.CryptoKey> {
  return webcrypto.subtle.importKey('pkcs8', x509.PemConverter.decodeFirst(pem), ALGORITHM, false, ['sign']);
}

/**
 * Whether a certificate is valid for all these hosts, and for longer than `spare`. False if `cert` is not a
 * certificate.
 */
export function isGoodFor(cert: string, hosts: readonly string[], now: Instant, spare: Millis): boolean {
  try {
    const parsed = new X509Certificate(cert);
    if (parseTime(parsed.validTo) - now < spare) return false;
    return hosts.every((host) => (isIP(host) ? parsed.checkIP(host) : parsed.checkHost(host)) !== undefined);
  } catch {
    return false;
  }
}
