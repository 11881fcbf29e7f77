// ManifestCheckpointContentChunk: a part of a checkpoint that fits into one object. A user who may read it may read the
// Secrets in it. No client needs to list or watch chunks, and the RBAC rules of Lapse do not include it.

import { defineKind } from '@lapse/kube/api/kind';
import { defineCustomKind } from '@lapse/kube/api/kinds/customKind';
import type { KubeObject } from '@lapse/kube/api/object';
import { GROUP, VERSION } from './stateSnapshotter/conditions.ts';
import { AGE_COLUMN, NAME_SCHEMA } from './storage/request.ts';

export interface ChunkSpec {
  checkpointName: string;
  /** Starts at 0. */
  index: number;
  /** base64(gzip(JSON array)). */
  data: string;
  objectsCount: number;
  /** SHA-256 of the gzip bytes, in hexadecimal. */
  checksum?: string;
}

export interface ManifestCheckpointContentChunk extends KubeObject {
  spec?: ChunkSpec;
}

export const ManifestCheckpointContentChunk = defineKind<ManifestCheckpointContentChunk>({
  group: GROUP,
  version: VERSION,
  kind: 'ManifestCheckpointContentChunk',
  resource: 'manifestcheckpointcontentchunks',
  namespaced: false,
});

/** Maximum number of characters of `spec.data`. */
export const MAX_CHUNK_DATA = 1_048_576;

export const manifestCheckpointContentChunkKind = defineCustomKind<ManifestCheckpointContentChunk>({
  kind: ManifestCheckpointContentChunk,
  description: 'A part of a ManifestCheckpoint. Holds the captured objects, Secrets included.',
  shortNames: ['mcpchunk'],
  spec: {
    type: 'object',
    required: ['checkpointName', 'index', 'data', 'objectsCount'],
    properties: {
      checkpointName: NAME_SCHEMA,
      index: { type: 'integer', minimum: 0 },
      data: { type: 'string', maxLength: MAX_CHUNK_DATA, description: 'base64(gzip(JSON array)).' },
      objectsCount: { type: 'integer', minimum: 0 },
      checksum: {
        type: 'string',
        maxLength: 64,
        description: 'SHA-256 of the gzip bytes, in hexadecimal.',
      },
    },
    'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'a chunk cannot be changed' }],
  },
  columns: [
    { name: 'Checkpoint', type: 'string', jsonPath: '.spec.checkpointName' },
    { name: 'Index', type: 'integer', jsonPath: '.spec.index' },
    { name: 'Objects', type: 'integer', jsonPath: '.spec.objectsCount' },
    AGE_COLUMN,
  ],
});
