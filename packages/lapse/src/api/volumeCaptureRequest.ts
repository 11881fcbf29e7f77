// VolumeCaptureRequest: captures one volume, once, as a snapshot or by detaching it from its claim.

import { defineKind } from '@lapse/kube/api/kind';
import { defineCustomKind } from '@lapse/kube/api/kinds/customKind';
import {
  AGE_COLUMN,
  NAME_SCHEMA,
  OPTIONAL_NAME_SCHEMA,
  OPTIONAL_NAMESPACE_SCHEMA,
  objectRefSchema,
  READY_COLUMNS,
  type RequestObject,
  type RequestStatus,
  requestStatusSchema,
  SPEC_IMMUTABLE,
} from './storage/request.ts';

export interface DataRef {
  kind: string;
  name: string;
  uid?: string;
}

export interface VolumeCaptureRequest extends RequestObject {
  spec?: {
    mode?: string;
    persistentVolumeClaimRef?: { kind?: string; name?: string; namespace?: string };
    volumeSnapshotClassName?: string;
    timeout?: string;
    retain?: boolean;
  };
  status?: RequestStatus & { dataRef?: DataRef };
}

export const VolumeCaptureRequest = defineKind<VolumeCaptureRequest>({
  group: 'storage.deckhouse.io',
  version: 'v1alpha1',
  kind: 'VolumeCaptureRequest',
  resource: 'volumecapturerequests',
  namespaced: true,
});

export const volumeCaptureRequestKind = defineCustomKind<VolumeCaptureRequest>({
  kind: VolumeCaptureRequest,
  description:
    'Captures one volume, once. The request ends Ready=True or Ready=False and is deleted after its TTL.',
  shortNames: ['vcr'],
  spec: {
    type: 'object',
    required: ['mode'],
    properties: {
      mode: {
        type: 'string',
        enum: ['Snapshot', 'Detach'],
        description:
          'Snapshot: a VolumeSnapshotContent is created. Detach: the claim is deleted, the volume stays.',
      },
      persistentVolumeClaimRef: {
        type: 'object',
        required: ['name'],
        properties: {
          name: NAME_SCHEMA,
          kind: { type: 'string', enum: ['', 'PersistentVolumeClaim'] },
          namespace: { ...OPTIONAL_NAMESPACE_SCHEMA, description: 'Default: the namespace of the request.' },
        },
      },
      volumeSnapshotClassName: {
        ...OPTIONAL_NAME_SCHEMA,
        description:
          'For Snapshot. Unset: the annotation storage.deckhouse.io/volumesnapshotclass of the StorageClass decides.',
      },
      timeout: {
        type: 'string',
        maxLength: 32,
        description:
          'For Snapshot: how long errors of the storage system are retried; a Go duration. 0s: the first error ends the request. Default: capture.timeout of the configuration.',
        'x-kubernetes-validations': [
          { rule: "duration(self) >= duration('0s')", message: 'must be a duration of 0s or more' },
        ],
      },
      retain: {
        type: 'boolean',
        description:
          'For Snapshot: the snapshot stays in the storage system after its VolumeSnapshotContent is deleted. Default: false.',
      },
    },
    'x-kubernetes-validations': [SPEC_IMMUTABLE],
  },
  status: requestStatusSchema({ dataRef: objectRefSchema('What was captured.') }),
  columns: [
    { name: 'Mode', type: 'string', jsonPath: '.spec.mode' },
    ...READY_COLUMNS,
    { name: 'Artifact', type: 'string', jsonPath: '.status.dataRef.name' },
    AGE_COLUMN,
  ],
});
