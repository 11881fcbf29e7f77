// Decodes one revision of a Helm release as Helm 3 and 4 store it: base64 of gzip of JSON. Every user who may write
// Secrets can write one, so everything is validated and every size is limited. Only the fields that an uninstall needs
// are parsed; the chart is skipped.

import { decodeBase64, fromUtf8, isGzip, unpackGzip } from '@lapse/base/codec';
import { type Instant, parseTime } from '@lapse/base/instant';
import { getOwn, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { skimFields } from './skimJson.ts';

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
  /** `isOverLimit`: not read because of a size limit; the release may be valid. */
  | { readonly kind: 'corrupt'; readonly why: string; readonly isOverLimit?: boolean };

/** A Kubernetes object has at most 1 MiB, so no valid payload is larger. */
const MOST_PACKED = 2 * 2 ** 20;
/** Charts compress by a factor of about ten. */
const MOST_UNPACKED = 16 * 2 ** 20;
const MOST_HOOKS = 500;
const MOST_MANIFEST = 8 * 2 ** 20;
const MOST_HOOK_BYTES = 2 ** 20;
const MOST_SCALAR = 4096;

/**
 * Whether the manifest of a revision contains all installed objects. `uninstalling` does not count: the uninstall may
 * have started after a failed upgrade.
 */
export const isComplete = (status: string): boolean => status === 'deployed';

/** The number of bytes that may still be unpacked. */
export interface UnpackBudget {
  left: number;
}

type Corrupt = Extract<Decoded, { kind: 'corrupt' }>;

const corrupt = (why: string, isOverLimit = false): Corrupt => ({
  kind: 'corrupt',
  why,
  ...(isOverLimit ? { isOverLimit } : {}),
});

/** Decodes a payload. */
export function decodeRelease(payload: string, budget?: UnpackBudget): Decoded {
  const unpacked = unpackPayload(payload, budget);
  return unpacked.kind === 'corrupt' ? unpacked : parseRelease(unpacked.bytes);
}

/** The JSON of a payload: base64 of gzip, or base64 of plain JSON as old versions of Helm wrote it. */
export function unpackPayload(
  payload: string,
  budget: UnpackBudget = { left: MOST_UNPACKED },
): { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly isPacked: boolean } | Corrupt {
  if (payload.length > MOST_PACKED) return corrupt('the payload is larger than any release');
  const packed = decodeBase64(payload);
  if (packed === undefined) return corrupt('the payload is not base64');
  if (!isGzip(packed)) return { kind: 'bytes', bytes: packed, isPacked: false };
  const most = Math.min(MOST_UNPACKED, budget.left);
  const unpacked = unpackGzip(packed, most);
  switch (unpacked.kind) {
    case 'bytes':
      budget.left -= unpacked.bytes.length;
      return { ...unpacked, isPacked: true };
    case 'tooLarge':
      budget.left -= most;
      return corrupt(`the payload unpacks to more than ${Math.round(most / 2 ** 20)} MiB`, true);
    case 'corrupt':
      return corrupt('the payload is not complete gzip');
  }
}

function parseRelease(bytes: Uint8Array): Decoded {
  const fields = skimFields(bytes);
  if (fields === undefined) return corrupt('the payload is not a JSON object');
  const info = skimFields(fields.get('info') ?? new Uint8Array());
  const [name, revision] = [scalar(fields, 'name'), scalar(fields, 'version')];
  if (typeof name !== 'string' || name === '') return corrupt('the release has no name');
  if (typeof revision !== 'number' || !Number.isSafeInteger(revision) || revision < 1)
    return corrupt('the release has no revision');
  if (info === undefined) return corrupt('the release has no info');
  const hooks = fields.has('hooks') ? (parseField(fields, 'hooks', MOST_HOOK_BYTES) ?? 'unreadable') : [];
  if (!Array.isArray(hooks) || hooks.length > MOST_HOOKS) return corrupt('the hooks are not a short list');
  const manifest = parseField(fields, 'manifest', MOST_MANIFEST);
  if (manifest === undefined && fields.has('manifest'))
    return corrupt('the manifest is too large or not text');
  const deployed = parseTime(textOf(scalar(info, 'last_deployed')));
  const release: Release = {
    name,
    namespace: textOf(scalar(fields, 'namespace')),
    revision,
    status: textOf(scalar(info, 'status')),
    ...(Number.isFinite(deployed) ? { lastDeployed: deployed } : {}),
    manifest: textOf(manifest),
    hooks: hooks.filter(isObject).map(readHook),
  };
  return { kind: 'release', release };
}

type Fields = ReadonlyMap<string, Uint8Array>;

const scalar = (fields: Fields, name: string): Json | undefined => parseField(fields, name, MOST_SCALAR);

/** The value of a field; undefined if it is missing, larger than `most` bytes, or not JSON. */
function parseField(fields: Fields, name: string, most: number): Json | undefined {
  const bytes = fields.get(name);
  if (bytes === undefined || bytes.length > most) return undefined;
  try {
    return JSON.parse(fromUtf8(bytes)) as Json;
  } catch {
    return undefined;
  }
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

const text = (from: JsonObject, field: string): string => textOf(getOwn(from, field));

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
