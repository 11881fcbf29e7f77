// The certificates of a standalone server: a CA created on first start and a serving certificate for loopback, and
// the same for its client certificate. Only the owner can read the files.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Issuance, isGoodFor, issueCertificate, makeAuthority } from '@lapse/base/certificates';
import { hours, type Instant } from '@lapse/base/instant';
import { readPrivate, writePrivate } from '@lapse/base/privateFile';
import type { FrontProxy } from '../aggregation/frontProxy.ts';

export interface ServingCertificate {
  /** PEM of the CA that clients trust. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

const SERVING = { ca: 'ca.crt', caKey: 'ca.key', cert: 'server.crt', key: 'server.key' } as const;
const PROXY = {
  ca: 'front-proxy-ca.crt',
  caKey: 'front-proxy-ca.key',
  cert: 'front-proxy.crt',
  key: 'front-proxy.key',
} as const;
const PROXY_NAME = 'lapse-front-proxy';
const CA_LIFETIME = hours(10 * 365 * 24);
const LEAF_LIFETIME = hours(365 * 24);
// A certificate that expires sooner is renewed at start.
const RENEW = hours(30 * 24);

/** Reads the certificates in `directory`; creates those that are missing, expired or for other hosts. */
export const servingCertificate = (
  directory: string,
  hosts: readonly string[],
  now: Instant,
): Promise<ServingCertificate> =>
  storedCertificate({
    directory,
    files: SERVING,
    now,
    authority: 'lapse-ca',
    leaf: { name: 'lapse', hosts },
  });

/** The client certificate for aggregated API servers; also stored in `directory`. */
export async function frontProxyCertificate(directory: string, now: Instant): Promise<FrontProxy> {
  const leaf = { name: PROXY_NAME, hosts: [], shownBy: 'client' } as const;
  const kept = { directory, files: PROXY, now, authority: `${PROXY_NAME}-ca`, leaf };
  const { ca, cert, key } = await storedCertificate(kept);
  return { authority: ca, name: PROXY_NAME, certificate: { cert, key } };
}

interface CertificateFiles {
  readonly directory: string;
  readonly files: Readonly<Record<'ca' | 'caKey' | 'cert' | 'key', string>>;
  readonly now: Instant;
  /** The common name of the CA. */
  readonly authority: string;
  readonly leaf: Pick<Issuance, 'name' | 'hosts' | 'shownBy'>;
}

async function storedCertificate({
  directory,
  files,
  now,
  authority,
  leaf,
}: CertificateFiles): Promise<ServingCertificate> {
  const path = (name: keyof typeof files) => join(directory, files[name]);
  const read = (name: keyof typeof files) => readPrivate(path(name));
  const missing = !existsSync(path('ca')) || !existsSync(path('caKey'));
  if (missing) {
    const made = await makeAuthority(authority, now, CA_LIFETIME);
    writePrivate(path('caKey'), made.key);
    writePrivate(path('ca'), made.cert);
  }
  const ca = read('ca');
  const hasLeaf = existsSync(path('cert')) && existsSync(path('key'));
  if (missing || !hasLeaf || !isGoodFor(read('cert'), leaf.hosts, now, RENEW)) {
    const signer = { cert: ca, key: read('caKey') };
    const made = await issueCertificate({ ...leaf, authority: signer, now, lifetime: LEAF_LIFETIME });
    writePrivate(path('key'), made.key);
    writePrivate(path('cert'), made.cert);
  }
  return { ca, cert: read('cert'), key: read('key') };
}
