// VolumeRestoreRequest: restores one captured volume as a claim, once. A provisioner that watches these requests creates
// the claim; the controller of this kind only reports when the claim exists.

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

export interface VolumeRestoreRequest extends RequestObject {
  spec?: {
    sourceRef?: { kind?: string; name?: string; namespace?: string };
    serviceNamespace?: string;
    targetNamespace?: string;
    targetPVCName?: string;
    storageClassName?: string;
    volumeMode?: string;
    accessModes?: string[];
  };
  status?: RequestStatus & { targetPVCRef?: { name: string; namespace: string; uid?: string } };
}

export const VolumeRestoreRequest = defineKind<VolumeRestoreRequest>({
  group: 'storage.deckhouse.io',
  version: 'v1alpha1',
  kind: 'VolumeRestoreRequest',
  resource: 'volumerestorerequests',
  namespaced: true,
});

export const volumeRestoreRequestKind = defineCustomKind<VolumeRestoreRequest>({
  kind: VolumeRestoreRequest,
  description:
    'Restores one captured volume, once. The request ends Ready=True or Ready=False and is deleted after its TTL.',
  shortNames: ['vrr'],
  spec: {
    type: 'object',
    required: ['sourceRef', 'targetPVCName'],
    properties: {
      sourceRef: {
        type: 'object',
        required: ['kind', 'name'],
        properties: {
          kind: { type: 'string', enum: ['VolumeSnapshotContent', 'PersistentVolume'] },
          name: NAME_SCHEMA,
          namespace: {
            ...OPTIONAL_NAMESPACE_SCHEMA,
            description: 'Accepted for compatibility. Ignored: sources are cluster-scoped.',
          },
        },
      },
      serviceNamespace: {
        ...OPTIONAL_NAMESPACE_SCHEMA,
        description: 'Accepted for compatibility. Ignored: no helper objects are created.',
      },
      targetNamespace: {
        ...OPTIONAL_NAMESPACE_SCHEMA,
        description: 'Default: the namespace of the request.',
      },
      targetPVCName: { ...NAME_SCHEMA, description: 'The claim that the provisioner creates.' },
      storageClassName: OPTIONAL_NAME_SCHEMA,
      volumeMode: { type: 'string', enum: ['Filesystem', 'Block'] },
      accessModes: {
        type: 'array',
        maxItems: 4,
        'x-kubernetes-list-type': 'set',
        items: {
          type: 'string',
          enum: ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'],
        },
      },
    },
    'x-kubernetes-validations': [SPEC_IMMUTABLE],
  },
  status: requestStatusSchema({ targetPVCRef: objectRefSchema('The restored claim.') }),
  columns: [
    { name: 'Source', type: 'string', jsonPath: '.spec.sourceRef.name' },
    { name: 'Target', type: 'string', jsonPath: '.spec.targetPVCName' },
    ...READY_COLUMNS,
    AGE_COLUMN,
  ],
});
