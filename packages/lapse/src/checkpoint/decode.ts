// Decodes chunks into objects. Other clients may write chunks, so every field is validated and the memory use is limited
// to what a valid chunk needs.

import { decodeBase64, fromUtf8, sha256, unpackGzip } from '@lapse/base/codec';
import { isObject, type Json } from '@lapse/kube/api/json';
import { parseJson } from '@lapse/kube/api/jsonParse';
import type { KubeObject } from '@lapse/kube/api/object';
import {
  type ChunkSpec,
  MAX_CHUNK_DATA,
  type ManifestCheckpointContentChunk,
} from '#api/manifestCheckpointContentChunk';
import { MAX_OBJECT_JSON } from './limits.ts';

/** The entry of a chunk in the checkpoint. */
export interface ExpectedChunk {
  readonly checkpointName: string;
  readonly index: number;
  /** Unset: the checksum in the chunk is used. */
  readonly checksum?: string | undefined;
  readonly objectsCount?: number | undefined;
}

export interface Damaged {
  readonly kind: 'damaged';
  /** The problem as a clause: `its checksum is …`. */
  readonly why: string;
}

/** The stored JSON array, byte for byte. */
export interface Payload {
  readonly kind: 'payload';
  readonly json: Uint8Array;
  /** Size of the gzip bytes. */
  readonly sizeBytes: number;
  readonly checksum: string;
}

export interface Manifests {
  readonly kind: 'manifests';
  readonly objects: readonly KubeObject[];
  readonly payload: Payload;
}

const damaged = (why: string): Damaged => ({ kind: 'damaged', why });

/** Validates the identity and checksum of the chunk and unpacks it. */
export function unpackChunk(
  chunk: ManifestCheckpointContentChunk,
  expected: ExpectedChunk,
): Payload | Damaged {
  const { spec } = chunk;
  if (spec === undefined) return damaged('it has no spec');
  const stranger = identityProblem(spec, expected);
  if (stranger !== undefined) return damaged(stranger);
  if (typeof spec.data !== 'string' || spec.data.length > MAX_CHUNK_DATA)
    return damaged(`its data are not ${MAX_CHUNK_DATA} characters or less`);
  const bytes = decodeBase64(spec.data);
  if (bytes === undefined) return damaged('its data are not base64');
  const checksum = sha256(bytes);
  const wrong = checksumProblem(checksum, spec, expected);
  if (wrong !== undefined) return damaged(wrong);
  const unpacked = unpackGzip(bytes, MAX_OBJECT_JSON);
  switch (unpacked.kind) {
    case 'bytes':
      return { kind: 'payload', json: unpacked.bytes, sizeBytes: bytes.length, checksum };
    case 'tooLarge':
      return damaged(`it unpacks to more than ${MAX_OBJECT_JSON} bytes`);
    case 'corrupt':
      return damaged(`its data cannot be unpacked: ${unpacked.why}`);
  }
}

function identityProblem(spec: ChunkSpec, expected: ExpectedChunk): string | undefined {
  if (spec.checkpointName !== expected.checkpointName)
    return `it is of checkpoint ${spec.checkpointName}, not of ${expected.checkpointName}`;
  if (spec.index !== expected.index) return `its index is ${spec.index}, not ${expected.index}`;
  if (expected.objectsCount !== undefined && spec.objectsCount !== expected.objectsCount)
    return `it counts ${spec.objectsCount} objects, its checkpoint ${expected.objectsCount}`;
  return undefined;
}

function checksumProblem(is: string, { checksum }: ChunkSpec, expected: ExpectedChunk): string | undefined {
  const should = expected.checksum ?? checksum;
  if (!should) return 'its checksum is missing';
  for (const wanted of [should, checksum ?? should])
    if (is !== wanted) return `its checksum is ${is} instead of ${wanted}`;
  return undefined;
}

/** Unpacks and parses a chunk. Validates the number of objects, their types and metadata. Integers are exact. */
export function decodeChunk(
  chunk: ManifestCheckpointContentChunk,
  expected: ExpectedChunk,
): Manifests | Damaged {
  const payload = unpackChunk(chunk, expected);
  if (payload.kind === 'damaged') return payload;
  let value: Json;
  try {
    value = parseManifests(fromUtf8(payload.json));
  } catch (error) {
    return damaged(`its JSON cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!Array.isArray(value)) return damaged('its JSON is not an array');
  const counted = chunk.spec?.objectsCount;
  if (value.length !== counted) return damaged(`it holds ${value.length} objects and counts ${counted}`);
  const odd = value.findIndex((item) => !isManifest(item));
  if (odd !== -1) return damaged(`its item ${odd} is not an object of Kubernetes`);
  return { kind: 'manifests', objects: value as unknown as KubeObject[], payload };
}

// An integer of 16 digits or more may exceed 2^53. A match inside a string only costs time.
const LONG_INTEGER = /[:[,]\s*-?\d{16}/;

const parseManifests = (text: string): Json =>
  LONG_INTEGER.test(text) ? parseJson(text).value : (JSON.parse(text) as Json);

const isManifest = (item: Json): boolean =>
  isObject(item) &&
  typeof item.apiVersion === 'string' &&
  typeof item.kind === 'string' &&
  isObject(item.metadata);
