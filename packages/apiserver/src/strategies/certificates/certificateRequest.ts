// PKCS #10 certificate requests in PEM: parses the fields that the server reads, and verifies the signature.

import { createPublicKey, verify } from 'node:crypto';
import { type DerValue, isPrintable, readDer, readSequence } from './der.ts';

export interface CertificateRequest {
  /** Organizations of the subject: the groups of a client certificate. */
  readonly organizations: readonly string[];
}

/** Thrown with the reason why a request is refused. */
export class InvalidRequest extends Error {}

const PEM = /-----BEGIN ([A-Z ]+)-----\s+([A-Za-z0-9+/=\s]+)-----END \1-----/;

/** Parses and verifies the first PEM block; throws InvalidRequest. */
export function parseRequest(pem: string): CertificateRequest {
  const match = PEM.exec(pem);
  if (match?.[1] !== 'CERTIFICATE REQUEST')
    throw new InvalidRequest('PEM block type must be CERTIFICATE REQUEST');
  try {
    return parse(Buffer.from(match[2]!, 'base64'));
  } catch (cause) {
    if (cause instanceof InvalidRequest) throw cause;
    throw new InvalidRequest(`x509: malformed certificate request: ${(cause as Error).message}`);
  }
}

/** Digest by OID of the signature algorithm; null: part of the algorithm. */
const DIGESTS: Readonly<Record<string, string | null>> = {
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.3.101.112': null,
};
const ORGANIZATION = '2.5.4.10';

function parse(der: Uint8Array): CertificateRequest {
  const [info, algorithm, signature] = readSequence(readDer(der));
  const [, subject, key] = readSequence(info!);
  const oid = oidText(readSequence(algorithm!)[0]!);
  const digest = Object.hasOwn(DIGESTS, oid) ? DIGESTS[oid]! : undefined;
  if (digest === undefined)
    throw new InvalidRequest('x509: cannot verify signature: algorithm unimplemented');
  const publicKey = createPublicKey({ key: Buffer.from(key!.raw), format: 'der', type: 'spki' });
  // The first octet of a BIT STRING counts its unused bits.
  if (!verify(digest, info!.raw, publicKey, signature!.content.subarray(1)))
    throw new InvalidRequest('x509: signature of the certificate request does not match its key');
  return { organizations: organizationsOf(subject!) };
}

function organizationsOf(subject: DerValue): string[] {
  const attributes = readSequence(subject).flatMap(readSequence).map(readSequence);
  return attributes
    .filter(([type]) => oidText(type!) === ORGANIZATION)
    .flatMap(([, text]) => (isPrintable(text!) ? [Buffer.from(text!.content).toString()] : []));
}

function oidText({ content }: DerValue): string {
  const numbers: number[] = [];
  let value = 0;
  for (const octet of content) {
    value = value * 128 + (octet & 0x7f);
    if (octet >= 0x80) continue;
    numbers.push(value);
    value = 0;
  }
  const [first = 0, ...rest] = numbers;
  const root = Math.min(Math.floor(first / 40), 2);
  return [root, first - 40 * root, ...rest].join('.');
}
