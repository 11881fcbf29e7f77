// ManifestCheckpoint: the result of a ManifestCaptureRequest. It lists the chunks that contain the objects.

import { defineKind } from '@lapse/kube/api/kind';
import type { Condition } from '@lapse/kube/api/kinds/builtin';
import { defineCustomKind } from '@lapse/kube/api/kinds/customKind';
import type { KubeObject } from '@lapse/kube/api/object';
import { GROUP, VERSION } from './stateSnapshotter/conditions.ts';
import {
  AGE_COLUMN,
  CONDITIONS_SCHEMA,
  NAME_SCHEMA,
  NAMESPACE_SCHEMA,
  READY_COLUMNS,
} from './storage/request.ts';

export interface ChunkInfo {
  name: string;
  /** From 0, without gaps. */
  index: number;
  objectsCount: number;
  /** Size of the gzip bytes. */
  sizeBytes: number;
  /** SHA-256 of the gzip bytes, in hexadecimal. */
  checksum?: string;
}

export interface ManifestCheckpoint extends KubeObject {
  spec?: {
    sourceNamespace?: string;
    manifestCaptureRequestRef?: { name: string; namespace: string; uid: string };
  };
  status?: {
    chunks?: ChunkInfo[];
    totalObjects?: number;
    totalSizeBytes?: number;
    /** Contains only Ready, and only after the capture has ended. */
    conditions?: Condition[];
  };
}

export const ManifestCheckpoint = defineKind<ManifestCheckpoint>({
  group: GROUP,
  version: VERSION,
  kind: 'ManifestCheckpoint',
  resource: 'manifestcheckpoints',
  namespaced: false,
});

const count = { type: 'integer', minimum: 0 };
const size = { type: 'integer', format: 'int64', minimum: 0 };

export const manifestCheckpointKind = defineCustomKind<ManifestCheckpoint>({
  kind: ManifestCheckpoint,
  description: 'Objects as they were when a ManifestCaptureRequest captured them. Complete once Ready=True.',
  shortNames: ['mcp'],
  spec: {
    type: 'object',
    required: ['sourceNamespace', 'manifestCaptureRequestRef'],
    properties: {
      sourceNamespace: NAMESPACE_SCHEMA,
      manifestCaptureRequestRef: {
        type: 'object',
        required: ['name', 'namespace', 'uid'],
        properties: {
          name: NAME_SCHEMA,
          namespace: NAMESPACE_SCHEMA,
          uid: { type: 'string', minLength: 1, maxLength: 253 },
        },
      },
    },
    'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'a checkpoint cannot be changed' }],
  },
  status: {
    type: 'object',
    description: 'Written once, when the capture has ended.',
    properties: {
      chunks: {
        type: 'array',
        'x-kubernetes-list-type': 'atomic',
        items: {
          type: 'object',
          required: ['name', 'index', 'objectsCount', 'sizeBytes'],
          properties: {
            name: { type: 'string' },
            index: count,
            objectsCount: count,
            sizeBytes: { ...size, description: 'Of the gzip bytes.' },
            checksum: { type: 'string', description: 'SHA-256 of the gzip bytes, in hexadecimal.' },
          },
        },
      },
      totalObjects: count,
      totalSizeBytes: size,
      conditions: CONDITIONS_SCHEMA,
    },
  },
  columns: [
    { name: 'Namespace', type: 'string', jsonPath: '.spec.sourceNamespace' },
    { name: 'Objects', type: 'integer', jsonPath: '.status.totalObjects' },
    { name: 'Size', type: 'integer', jsonPath: '.status.totalSizeBytes' },
    ...READY_COLUMNS,
    AGE_COLUMN,
  ],
});
