// The certificates of a server that stands alone: a CA made on first start and a leaf for loopback signed by it. The files
// are readable by their owner only.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isGoodFor, issueCertificate, makeAuthority } from '#base/certificates';
import { hours, type Instant } from '#base/instant';

export interface ServingCertificate {
  /** PEM of the CA that clients trust. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

const FILES = { ca: 'ca.crt', caKey: 'ca.key', cert: 'server.crt', key: 'server.key' } as const;
const CA_LIFETIME = hours(10 * 365 * 24);
const LEAF_LIFETIME = hours(365 * 24);
// A leaf that ends sooner than this is made anew at start.
const RENEW = hours(30 * 24);

/** Reads the certificates of `directory`, making what is missing, expired or for other hosts. */
export async function servingCertificate(
  directory: string,
  hosts: readonly string[],
  now: Instant,
): Promise<ServingCertificate> {
  const path = (name: keyof typeof FILES) => join(directory, FILES[name]);
  const read = (name: keyof typeof FILES) => readFileSync(path(name), 'utf8');
  const missing = !existsSync(path('ca')) || !existsSync(path('caKey'));
  if (missing) {
    const made = await makeAuthority('lapse-ca', now, CA_LIFETIME);
    writePrivate(path('caKey'), made.key);
    writePrivate(path('ca'), made.cert);
  }
  const ca = read('ca');
  const hasLeaf = existsSync(path('cert')) && existsSync(path('key'));
  if (missing || !hasLeaf || !isGoodFor(read('cert'), hosts, now, RENEW)) {
    const authority = { cert: ca, key: read('caKey') };
    const leaf = await issueCertificate({ authority, hosts, name: 'lapse', now, lifetime: LEAF_LIFETIME });
    writePrivate(path('key'), leaf.key);
    writePrivate(path('cert'), leaf.cert);
  }
  return { ca, cert: read('cert'), key: read('key') };
}

export const writePrivate = (file: string, text: string) => writeFileSync(file, text, { mode: 0o600 });
