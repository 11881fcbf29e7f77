// Strategy of Secret: `stringData` is write-only and merged into `data`; well-known types have required keys; the
// type is immutable.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type FieldError, invalid, required, tooLong } from '@lapse/kube/api/fieldErrors';
import { parseJson } from '@lapse/kube/api/jsonParse';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Strategy } from '../../resources/resource.ts';
import { check, immutable, metaOf, metaUpdate } from '../checks.ts';
import { configKey, subdomainName } from '../names.ts';
import { assign, child, ensure, entries, part, text, value } from '../values.ts';
import { decodedBytes, frozenErrors, MAX_DATA } from './configMap.ts';

function joinStringData(secret: KubeObject): void {
  const plain = child(secret, 'stringData');
  delete secret['stringData'];
  if (!plain) return;
  for (const [key, v] of entries(plain))
    assign(ensure(secret, 'data'), key, Buffer.from(String(v)).toString('base64'));
}

function validate(secret: KubeObject): FieldError[] {
  const data = part(secret, 'data');
  const errors = entries(data).flatMap(([key]) => check(configKey, key, `data[${key}]`));
  if (decodedBytes(data) > MAX_DATA) errors.push(tooLong('data', MAX_DATA));
  return [...errors, ...validateType(secret)];
}

const REQUIRED_KEYS: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/basic-auth': ['username', 'password'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
};

const DOCKER_KEYS: Readonly<Record<string, string>> = {
  'kubernetes.io/dockercfg': '.dockercfg',
  'kubernetes.io/dockerconfigjson': '.dockerconfigjson',
};

function validateType(secret: KubeObject): FieldError[] {
  const data = part(secret, 'data');
  const type = text(secret, 'type');
  const missing = (keys: readonly string[]) =>
    keys.filter((k) => !Object.hasOwn(data, k)).map((k) => required(`data[${k}]`));
  if (type === 'kubernetes.io/service-account-token') {
    const name = 'kubernetes.io/service-account.name';
    return secret.metadata.annotations?.[name] ? [] : [required(`metadata.annotations[${name}]`)];
  }
  const docker = DOCKER_KEYS[type];
  if (docker) return missing([docker])[0] ? missing([docker]) : dockerErrors(text(data, docker), docker);
  const keys = REQUIRED_KEYS[type];
  if (!keys) return [];
  if (type === 'kubernetes.io/basic-auth') return missing(keys).length === keys.length ? missing(keys) : [];
  if (type === 'kubernetes.io/ssh-auth')
    return text(data, keys[0]!) === '' ? [required(`data[${keys[0]}]`)] : [];
  return missing(keys);
}

function dockerErrors(base64: string, key: string): FieldError[] {
  const refuse = (why: string) => [invalid(`data[${key}]`, '<secret contents redacted>', why)];
  try {
    const parsed = parseJson(Buffer.from(base64, 'base64')).value;
    if (parsed === null || (typeof parsed === 'object' && !Array.isArray(parsed))) return [];
    const kind = Array.isArray(parsed) ? 'array' : typeof parsed === 'boolean' ? 'bool' : typeof parsed;
    return refuse(`json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`);
  } catch (cause) {
    return refuse((cause as Error).message);
  }
}

const PEM = /-----BEGIN ([^-]+)-----[\s\S]*?-----END \1-----/g;

/** A TLS secret whose certificate and key do not match is stored with a warning. */
function tlsWarnings(secret: KubeObject): string[] {
  if (text(secret, 'type') !== 'kubernetes.io/tls') return [];
  const pem = (key: string) => Buffer.from(text(part(secret, 'data'), key), 'base64').toString('latin1');
  const [certificate, key] = [pem('tls.crt'), pem('tls.key')];
  const missing =
    missingPem(certificate, 'certificate', /^CERTIFICATE$/) ?? missingPem(key, 'key', /PRIVATE KEY$/);
  if (missing) return [missing];
  try {
    const matches = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
    return matches ? [] : ['tls: private key does not match public key'];
  } catch {
    // Reports the error without Go's details about the malformed key.
    return ['tls: failed to parse private key'];
  }
}

function missingPem(text: string, noun: string, wanted: RegExp): string | undefined {
  const types = [...text.matchAll(PEM)].map((m) => m[1]!);
  if (types.length === 0) return `tls: failed to find any PEM data in ${noun} input`;
  if (types.some((t) => wanted.test(t))) return undefined;
  const what =
    noun === 'key'
      ? 'PEM block with type ending in "PRIVATE KEY" in key input'
      : '"CERTIFICATE" PEM block in certificate input';
  return `tls: failed to find ${what} after skipping PEM blocks of the following types: [${types.join(' ')}]`;
}

export const secretStrategy: Strategy = {
  nameRule: subdomainName,
  validatesMeta: true,
  applyDefaults: joinStringData,
  warnings: tlsWarnings,
  validate,
  prepareForUpdate(next, old) {
    if (text(next, 'type') === '') assign(next, 'type', value(old, 'type'));
  },
  validateUpdate: (next, old) => [
    ...metaUpdate(next, old),
    ...immutable(value(next, 'type'), value(old, 'type'), 'type'),
    ...frozenErrors(next, old, ['data']),
    ...metaOf(next, true, subdomainName),
    ...validate(next),
  ],
};
