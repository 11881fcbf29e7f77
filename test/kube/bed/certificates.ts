// Certificates and keys of one test bed: a CA with the server's certificate, a second CA for the front proxy (trusted
// by aggregated API servers), and the key that signs service account tokens. All are new, in one directory.

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bitString, boolean, der, generalizedTime, integer, oid, sequence, TAG, tagged } from './der.ts';

export interface CertificateFiles {
  ca: string;
  serverCertificate: string;
  serverKey: string;
  frontProxyCa: string;
  frontProxyCertificate: string;
  frontProxyKey: string;
  serviceAccountKey: string;
  serviceAccountPublicKey: string;
}

interface Issued {
  name: string;
  publicKey: KeyObject;
  privateKey: KeyObject;
  pem: string;
}

const DAY_MS = 86_400_000;
const LIFETIME_MS = 30 * DAY_MS;
const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));

export function writeCertificates(directory: string): CertificateFiles {
  const write = (name: string, text: string) => {
    const path = join(directory, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const ca = issue('bed-ca', AUTHORITY);
  const frontProxyCa = issue('bed-front-proxy-ca', AUTHORITY);
  const server = issue('kube-apiserver', [serverNames(), usage('1.3.6.1.5.5.7.3.1')], ca);
  const proxy = issue('front-proxy', [usage('1.3.6.1.5.5.7.3.2')], frontProxyCa);
  const tokens = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    ca: write('ca.crt', ca.pem),
    serverCertificate: write('apiserver.crt', server.pem),
    serverKey: write('apiserver.key', privatePem(server.privateKey)),
    frontProxyCa: write('front-proxy-ca.crt', frontProxyCa.pem),
    frontProxyCertificate: write('front-proxy.crt', proxy.pem),
    frontProxyKey: write('front-proxy.key', privatePem(proxy.privateKey)),
    serviceAccountKey: write('sa.key', privatePem(tokens.privateKey)),
    serviceAccountPublicKey: write(
      'sa.pub',
      tokens.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    ),
  };
}

/** A certificate for a new key, signed by `issuer`, or by itself. */
function issue(name: string, extensions: Buffer[], issuer?: Issued): Issued {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const authority = issuer ?? { name, ...keys };
  const now = Date.now();
  const body = sequence(
    tagged(0, integer(Buffer.of(2))),
    integer(randomBytes(15)),
    ECDSA_WITH_SHA256,
    commonName(authority.name),
    sequence(generalizedTime(new Date(now - DAY_MS)), generalizedTime(new Date(now + LIFETIME_MS))),
    commonName(name),
    keys.publicKey.export({ type: 'spki', format: 'der' }),
    tagged(
      3,
      sequence(
        ...extensions,
        extension('2.5.29.14', der(TAG.octets, keyId(keys.publicKey))),
        extension('2.5.29.35', sequence(der(0x80, keyId(authority.publicKey)))),
      ),
    ),
  );
  const signature = sign('sha256', body, authority.privateKey);
  const certificate = sequence(body, ECDSA_WITH_SHA256, bitString(signature));
  return { name, ...keys, pem: certificatePem(certificate) };
}

const AUTHORITY = [
  extension('2.5.29.19', sequence(boolean(true)), true),
  extension('2.5.29.15', bitString(Buffer.of(0b1000_0110), 1), true), // digital signature, sign certificates and CRLs
];

function usage(purpose: string): Buffer {
  return extension('2.5.29.37', sequence(oid(purpose)));
}

function serverNames(): Buffer {
  const dns = ['localhost', 'kubernetes.default.svc'].map((name) => der(0x82, Buffer.from(name)));
  return extension('2.5.29.17', sequence(...dns, der(0x87, Buffer.of(127, 0, 0, 1))));
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return sequence(oid(id), ...(critical ? [boolean(true)] : []), der(TAG.octets, value));
}

function commonName(name: string): Buffer {
  return sequence(der(TAG.set, sequence(oid('2.5.4.3'), der(TAG.utf8, Buffer.from(name)))));
}

function keyId(key: KeyObject): Buffer {
  return createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();
}

function privatePem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function certificatePem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
