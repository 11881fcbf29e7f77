// ManifestCaptureRequest: captures the manifests of objects of one namespace, once.

import { defineKind } from '@lapse/kube/api/kind';
import { defineCustomKind } from '@lapse/kube/api/kinds/customKind';
import { GROUP, VERSION } from './stateSnapshotter/conditions.ts';
import {
  AGE_COLUMN,
  NAME_SCHEMA,
  READY_COLUMNS,
  type RequestObject,
  type RequestStatus,
  requestStatusSchema,
  SPEC_IMMUTABLE,
} from './storage/request.ts';

/** An object in the namespace of the request, or that Namespace itself. */
export interface ManifestTarget {
  apiVersion: string;
  kind: string;
  name: string;
}

export interface ManifestCaptureRequest extends RequestObject {
  spec?: { targets?: ManifestTarget[] };
  status?: RequestStatus & { checkpointName?: string };
}

export const ManifestCaptureRequest = defineKind<ManifestCaptureRequest>({
  group: GROUP,
  version: VERSION,
  kind: 'ManifestCaptureRequest',
  resource: 'manifestcapturerequests',
  namespaced: true,
});

export const MAX_TARGETS = 10_000;

export const manifestCaptureRequestKind = defineCustomKind<ManifestCaptureRequest>({
  kind: ManifestCaptureRequest,
  description:
    'Captures objects of its namespace, once, in a ManifestCheckpoint. The request ends Ready=True or Ready=False and is deleted after its TTL.',
  shortNames: ['mcr'],
  spec: {
    type: 'object',
    required: ['targets'],
    properties: {
      targets: {
        type: 'array',
        description:
          'Objects of this namespace, or the Namespace itself. One that is named twice counts once.',
        minItems: 1,
        maxItems: MAX_TARGETS,
        'x-kubernetes-list-type': 'atomic',
        items: {
          type: 'object',
          required: ['apiVersion', 'kind', 'name'],
          properties: {
            apiVersion: { type: 'string', minLength: 1, maxLength: 317, description: 'v1, apps/v1, …' },
            kind: { type: 'string', minLength: 1, maxLength: 63 },
            name: NAME_SCHEMA,
          },
        },
      },
    },
    'x-kubernetes-validations': [SPEC_IMMUTABLE],
  },
  status: requestStatusSchema({
    checkpointName: { type: 'string', description: 'The ManifestCheckpoint, once it is complete.' },
  }),
  columns: [
    { name: 'Checkpoint', type: 'string', jsonPath: '.status.checkpointName' },
    ...READY_COLUMNS,
    AGE_COLUMN,
  ],
});
