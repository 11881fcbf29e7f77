// Encodes and decodes ExecCredential, the JSON exchanged with credential plugins.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type Instant, parseTime } from '@lapse/base/instant';
import { isObject, type Json } from '#api/json';
import { parseText } from './codec.ts';
import type { ExecConfig } from './connection.ts';
import { bearer } from './credentials.ts';
import type { Loaded } from './renewing.ts';

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** The value of KUBERNETES_EXEC_INFO. */
export function buildExecInfo(exec: ExecConfig, interactive: boolean, ca: string | undefined): string {
  const { cluster } = exec;
  const info = cluster && {
    server: cluster.server,
    'tls-server-name': cluster.tlsServerName,
    'insecure-skip-tls-verify': cluster.insecure ? true : undefined,
    'certificate-authority-data': ca === undefined ? undefined : Buffer.from(ca).toString('base64'),
    'proxy-url': cluster.proxyUrl,
    config: cluster.config,
  };
  const spec = { cluster: info, interactive };
  return JSON.stringify({ kind: 'ExecCredential', apiVersion: exec.apiVersion, spec });
}

/** The plugin's output is not usable. The message never quotes it, because it contains secrets. */
export class ExecOutputError extends Error {}

function readExpiry(value: Json | undefined): Instant | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string' || !RFC3339.test(value))
    throw new ExecOutputError('status.expirationTimestamp is not an RFC 3339 time');
  const at = parseTime(value);
  if (Number.isNaN(at)) throw new ExecOutputError('status.expirationTimestamp is not an RFC 3339 time');
  return at;
}

function checkPair(cert: string, key: string): void {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(cert);
  } catch {
    throw new ExecOutputError('status.clientCertificateData is not a PEM certificate');
  }
  let fits: boolean;
  try {
    fits = certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    throw new ExecOutputError('status.clientKeyData is not a PEM private key');
  }
  if (!fits)
    throw new ExecOutputError('status.clientKeyData does not belong to status.clientCertificateData');
}

const textIn = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

function parseJson(text: string): Json {
  try {
    return parseText(text);
  } catch {
    throw new ExecOutputError('the output is not JSON');
  }
}

export function parseExecCredential(output: string, apiVersion: string): Loaded {
  const json = parseJson(output);
  if (!isObject(json) || json.kind !== 'ExecCredential')
    throw new ExecOutputError('the output is not an ExecCredential');
  if (json.apiVersion !== apiVersion)
    throw new ExecOutputError(`the output has apiVersion ${String(json.apiVersion)}, expected ${apiVersion}`);
  if (!isObject(json.status)) throw new ExecOutputError('the output has no status');
  const { status } = json;
  const token = textIn(status.token);
  const cert = textIn(status.clientCertificateData);
  const key = textIn(status.clientKeyData);
  if ((cert === undefined) !== (key === undefined))
    throw new ExecOutputError('status.clientCertificateData and status.clientKeyData must be set together');
  if (token === undefined && cert === undefined)
    throw new ExecOutputError('status has neither a token nor a client certificate');
  if (token !== undefined && /[^\x21-\x7e]/.test(token))
    throw new ExecOutputError('status.token contains invalid characters');
  if (cert !== undefined && key !== undefined) checkPair(cert, key);
  const expiresAt = readExpiry(status.expirationTimestamp);
  return {
    auth: {
      headers: token === undefined ? {} : bearer(token),
      ...(cert === undefined || key === undefined ? {} : { cert, key }),
    },
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}
