// Test kit of this folder: self-signed certificates, encoded as DER by hand.

import { generateKeyPairSync, sign } from 'node:crypto';
import { isIP } from 'node:net';

const der = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  const size = body.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
};
const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts);
const oid = (...body: number[]) => der(0x06, Buffer.from(body));
const bits = (body: Uint8Array) => der(0x03, Buffer.from([0]), body);
const time = (text: string) => der(0x17, Buffer.from(text));

const ECDSA_SHA256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const COMMON_NAME = [0x55, 0x04, 0x03];
const ALT_NAMES = [0x55, 0x1d, 0x11];

const nameOf = (text: string) =>
  sequence(der(0x31, sequence(oid(...COMMON_NAME), der(0x0c, Buffer.from(text)))));

function altName(host: string): Buffer {
  if (isIP(host) === 4) return der(0x87, Buffer.from(host.split('.').map(Number)));
  return der(0x82, Buffer.from(host));
}

// PEM allows lines of 64 characters and no blank line before the end.
const pem = (label: string, body: Uint8Array): string => {
  const lines =
    Buffer.from(body)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
};

/** A self-signed certificate for these hosts, valid from 2020 to 2049. It is its own CA. */
export function selfSigned(name: string, hosts: readonly string[] = []): { cert: string; key: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const extensions = sequence(sequence(oid(...ALT_NAMES), der(0x04, sequence(...hosts.map(altName)))));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ECDSA_SHA256,
    nameOf(name),
    sequence(time('200101000000Z'), time('491231235959Z')),
    nameOf(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(hosts.length === 0 ? [] : [der(0xa3, extensions)]),
  );
  const signature = sign('sha256', body, privateKey);
  return {
    cert: pem('CERTIFICATE', sequence(body, ECDSA_SHA256, bits(signature))),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
