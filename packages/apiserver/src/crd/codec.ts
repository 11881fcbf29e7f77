// Converts bodies, stored bytes and shown objects of a custom resource. Objects are stored in the storage version;
// other versions differ only in apiVersion (conversion None), pruned by both schemas. Defaults are applied twice: on
// write for the requested version, on read for the stored one.

import { clone, type JsonObject } from '@lapse/kube/api/json';
import type { JsonNotes } from '@lapse/kube/api/jsonParse';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import { apiVersionOf, asJson, asObject, type KubeObject } from '@lapse/kube/api/object';
import { sortKeys } from '@lapse/kube/api/sortKeys';
import { DecodeError } from '#schema/typed';
import { KindMismatch } from '../resources/kindMismatch.ts';
import type { Codec, Decoded } from '../resources/resource.ts';
import type { Stored } from '../store/stored.ts';
import { decodeMetadata } from './metadata.ts';
import type { Structure } from './structure.ts';

// A body of maximum size can have about 400,000 unknown fields, more than a user can read.
const MAX_PROBLEMS = 1000;

/** All versions of one CRD as currently served. */
export interface Versions {
  readonly group: string;
  readonly kind: string;
  readonly storageVersion: string;
  /** All versions have the same schema. */
  readonly uniform: boolean;
  structure(version: string): Structure | undefined;
  /** Objects written after this revision conform to these schemas. */
  readonly since: number;
  /** The versions served now, in case these are outdated. */
  current(): Versions;
}

export function customCodec(versions: Versions, version: string): Codec {
  const prefix = Buffer.from(`{"apiVersion":${JSON.stringify(apiVersionOf({ ...versions, version }))},`);
  const isVerbatim = (stored: Stored): boolean =>
    versions.uniform && stored.revision > versions.since && startsWith(stored.bytes, prefix);
  return {
    decode: (value, notes) => decode(versions, version, value, notes),
    complete: (value) => complete(versions.structure(version)!, value),
    verbatim: isVerbatim,
    show: (stored) => (isVerbatim(stored) ? stored.object : show(versions, version, stored.object)),
    toStorage(object) {
      const current = versions.current();
      // The CRD changed during this request: stored objects must conform to the served schemas.
      if (current !== versions) refit(current, version, object);
      return toStorage(current, object);
    },
  };
}

function startsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  for (let i = 0; i < prefix.length; i++) if (bytes[i] !== prefix[i]) return false;
  return true;
}

/**
 * Metadata is decoded like that of built-in kinds, the rest by the schema, except when the object has another kind.
 * Modifies `value`.
 */
function decode(
  versions: Versions,
  version: string,
  value: JsonObject,
  notes: JsonNotes | undefined,
): Decoded {
  if (!value['kind']) throw new DecodeError(`Object 'Kind' is missing in '${writeJson(value)}'`);
  const unknown: string[] = [];
  if (value['metadata'] !== undefined) {
    const metadata = readMetadata(versions, version, value, notes);
    value['metadata'] = metadata.value;
    unknown.push(...metadata.unknown.map((path) => `metadata.${path}`));
  }
  if (value['kind'] === versions.kind) {
    const structure = versions.structure(version)!;
    unknown.push(...structure.prune(value));
    structure.applyDefaults(value);
  }
  value['metadata'] ??= {};
  const problems = unknown.slice(0, MAX_PROBLEMS).map((path) => `unknown field "${path}"`);
  return { object: asObject(value), problems };
}

function readMetadata(
  { kind }: Versions,
  version: string,
  value: JsonObject,
  notes: JsonNotes | undefined,
): ReturnType<typeof decodeMetadata> {
  try {
    return decodeMetadata(value['metadata']!, notes);
  } catch (cause) {
    const sentKind = String(value['kind']);
    if (!(cause instanceof DecodeError) || sentKind === kind) throw cause;
    throw new KindMismatch(sentKind, { version, kind }, cause.message);
  }
}

/** Keeps nulls: where an apply removed the last part of a field, the field is null and validation rejects it. */
function complete(structure: Structure, value: JsonObject): KubeObject {
  value['metadata'] = decodeMetadata(value['metadata'] ?? {}, undefined).value;
  const dropped = structure.pruneUnknown(value);
  structure.applyDefaults(value);
  const object = asObject(value);
  if (dropped.length > 0) droppedFrom.set(object, dropped);
  return object;
}

const droppedFrom = new WeakMap<KubeObject, readonly string[]>();

/** Fields that were applied but are pruned: kube-apiserver drops them only when the object is stored. */
export const droppedFields = (object: KubeObject): readonly string[] => droppedFrom.get(object) ?? [];

/** Shows an object that was stored with other schemas or in another version. */
function show(versions: Versions, version: string, stored: KubeObject): KubeObject {
  const object = asObject(clone(asJson(stored)));
  if (object.metadata.resourceVersion === '') delete object.metadata.resourceVersion;
  const from = object.apiVersion?.slice(versions.group.length + 1) ?? version;
  const structure = versions.structure(from);
  if (structure) {
    structure.prune(asJson(object));
    structure.applyDefaults(asJson(object));
  }
  if (from === version) return object;
  object.apiVersion = apiVersionOf({ ...versions, version });
  versions.structure(version)?.prune(asJson(object));
  return object;
}

function refit(versions: Versions, version: string, object: KubeObject): void {
  const structure = versions.structure(version);
  structure?.prune(asJson(object));
  structure?.applyDefaults(asJson(object));
}

function toStorage(versions: Versions, object: KubeObject): KubeObject {
  const { storageVersion } = versions;
  const apiVersion = apiVersionOf({ ...versions, version: storageVersion });
  // The store sets the resourceVersion; this reserves its position among the keys.
  object.metadata.resourceVersion ??= '';
  const sorted = asObject(sortKeys(asJson(object)));
  if (sorted.apiVersion === apiVersion) return sorted;
  sorted.apiVersion = apiVersion;
  versions.structure(storageVersion)?.prune(asJson(sorted));
  return sorted;
}
