// Reads and checks certificates and keys. Re-reads them periodically, because the files may be rotated.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Clock } from '@lapse/base/clock';
import { minutes } from '@lapse/base/instant';
import { ConfigError } from './configFields.ts';
import type { Connection, Material } from './connection.ts';
import type { TlsOptions } from './dispatchers.ts';

const REREAD_EVERY = minutes(1);
const CERTIFICATES = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

export async function readMaterial(material: Material): Promise<string> {
  if ('pem' in material) return material.pem;
  try {
    return await readFile(material.path, 'utf8');
  } catch (error) {
    throw new ConfigError(material.field, `cannot read ${material.path}: ${(error as Error).message}`, error);
  }
}

const whereOf = (material: Material): string =>
  'path' in material ? `${material.field}: ${material.path}` : material.field;

/** The first certificate. Throws without a certificate, or if any of them is invalid. */
function checkCertificates(material: Material, pem: string): X509Certificate {
  const found = pem.match(CERTIFICATES) ?? [];
  if (found.length === 0) throw new ConfigError(whereOf(material), 'contains no PEM certificate');
  try {
    return found.map((text) => new X509Certificate(text))[0]!;
  } catch (error) {
    throw new ConfigError(whereOf(material), 'contains an invalid certificate', error);
  }
}

function checkKey(material: Material, pem: string, certificate: X509Certificate): void {
  let fits: boolean;
  try {
    fits = certificate.checkPrivateKey(createPrivateKey(pem));
  } catch (error) {
    throw new ConfigError(whereOf(material), 'is not a PEM private key', error);
  }
  if (!fits) throw new ConfigError(whereOf(material), 'does not belong to the client certificate');
}

async function load(connection: Connection): Promise<TlsOptions> {
  const { ca, cert, key, servername, insecure } = connection;
  const tls: { ca?: string; cert?: string; key?: string } = {};
  if (ca !== undefined) {
    tls.ca = await readMaterial(ca);
    checkCertificates(ca, tls.ca);
  }
  if (cert !== undefined && key !== undefined) {
    tls.cert = await readMaterial(cert);
    tls.key = await readMaterial(key);
    checkKey(key, tls.key, checkCertificates(cert, tls.cert));
  }
  return { ...tls, ...(servername === undefined ? {} : { servername }), ...(insecure ? { insecure } : {}) };
}

const same = (a: TlsOptions, b: TlsOptions): boolean => a.ca === b.ca && a.cert === b.cert && a.key === b.key;

/** The current certificates of the connection. The same object as long as nothing changed. */
export async function watchMaterial(
  connection: Connection,
  clock: Clock,
): Promise<() => TlsOptions | Promise<TlsOptions>> {
  let held = await load(connection);
  const inFiles = [connection.ca, connection.cert, connection.key].some(
    (m) => m !== undefined && 'path' in m,
  );
  if (!inFiles) return () => held;
  let readAt = clock.elapsed();
  let reading: Promise<TlsOptions> | undefined;
  async function reread(): Promise<TlsOptions> {
    try {
      const fresh = await load(connection);
      if (!same(held, fresh)) held = fresh;
    } catch {
      // Certificate and key are two files and may be half-written. The previous pair still works; the next read sees
      // both.
    } finally {
      readAt = clock.elapsed();
      reading = undefined;
    }
    return held;
  }
  return () => {
    if (clock.elapsed() - readAt < REREAD_EVERY) return held;
    reading ??= reread();
    return reading;
  };
}
