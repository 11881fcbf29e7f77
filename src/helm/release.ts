// One revision of a Helm release, as Helm 3 and 4 store it: JSON, packed with gzip, in base64. Anybody who may write
// Secrets may write one, so nothing in it is believed before it is checked, and no size goes unbounded.

import { getOwn, isObject, type Json, type JsonObject } from '#api/json';
import { decodeBase64, fromUtf8, isGzip, unpackGzip } from '#base/codec';
import { type Instant, parseTime } from '#base/instant';

export interface Hook {
  readonly name: string;
  readonly kind: string;
  readonly manifest: string;
  /** `pre-delete`, `post-delete`, … */
  readonly events: readonly string[];
  readonly weight: number;
  readonly deletePolicies: readonly string[];
}

export interface Release {
  readonly name: string;
  readonly namespace: string;
  readonly revision: number;
  /** `deployed`, `failed`, `pending-upgrade`, … */
  readonly status: string;
  readonly lastDeployed?: Instant;
  readonly manifest: string;
  readonly hooks: readonly Hook[];
}

export type Decoded =
  | { readonly kind: 'release'; readonly release: Release }
  | { readonly kind: 'corrupt'; readonly why: string };

/** An object holds 1 MiB at most, so nothing real is larger. */
const MOST_PACKED = 2 * 2 ** 20;
/** Charts compress about tenfold. */
const MOST_UNPACKED = 16 * 2 ** 20;
const MOST_HOOKS = 500;

const corrupt = (why: string): Decoded => ({ kind: 'corrupt', why });

/** Reads a payload: base64 of gzip of JSON, or of plain JSON as releases of long ago have it. */
export function decodeRelease(payload: string): Decoded {
  if (payload.length > MOST_PACKED) return corrupt('the payload is larger than any release');
  const packed = decodeBase64(payload);
  if (packed === undefined) return corrupt('the payload is not base64');
  if (!isGzip(packed)) return parseRelease(packed);
  const unpacked = unpackGzip(packed, MOST_UNPACKED);
  switch (unpacked.kind) {
    case 'bytes':
      return parseRelease(unpacked.bytes);
    case 'tooLarge':
      return corrupt(`the payload unpacks to more than ${MOST_UNPACKED / 2 ** 20} MiB`);
    case 'corrupt':
      return corrupt('the payload is not complete gzip');
  }
}

function parseRelease(bytes: Uint8Array): Decoded {
  let json: Json;
  try {
    json = JSON.parse(fromUtf8(bytes)) as Json;
  } catch {
    return corrupt('the payload is not JSON');
  }
  return isObject(json) ? readRelease(json) : corrupt('the payload is not an object');
}

const text = (from: JsonObject, field: string): string => {
  const value = getOwn(from, field);
  return typeof value === 'string' ? value : '';
};

function readRelease(json: JsonObject): Decoded {
  const info = getOwn(json, 'info');
  const revision = getOwn(json, 'version');
  const hooks = getOwn(json, 'hooks') ?? [];
  if (text(json, 'name') === '') return corrupt('the release has no name');
  if (typeof revision !== 'number' || !Number.isSafeInteger(revision) || revision < 1)
    return corrupt('the release has no revision');
  if (!isObject(info)) return corrupt('the release has no info');
  if (!Array.isArray(hooks) || hooks.length > MOST_HOOKS) return corrupt('the hooks are not a short list');
  const deployed = parseTime(text(info, 'last_deployed'));
  const release: Release = {
    name: text(json, 'name'),
    namespace: text(json, 'namespace'),
    revision,
    status: text(info, 'status'),
    ...(Number.isFinite(deployed) ? { lastDeployed: deployed } : {}),
    manifest: text(json, 'manifest'),
    hooks: hooks.filter(isObject).map(readHook),
  };
  return { kind: 'release', release };
}

const texts = (from: JsonObject, field: string): string[] => {
  const value = getOwn(from, field);
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
};

function readHook(json: JsonObject): Hook {
  const weight = getOwn(json, 'weight');
  return {
    name: text(json, 'name'),
    kind: text(json, 'kind'),
    manifest: text(json, 'manifest'),
    events: texts(json, 'events'),
    weight: typeof weight === 'number' && Number.isFinite(weight) ? weight : 0,
    deletePolicies: texts(json, 'delete_policies'),
  };
}
