// Minimal CRDs of snapshot.storage.k8s.io, for the embedded server only. Unlike the CRDs of external-snapshotter they
// accept a VolumeSnapshotContent without a VolumeSnapshot. They are never applied to a real cluster, where the storage
// vendor installs these CRDs.

import type { JsonObject } from '@lapse/kube/api/json';
import type { Kind } from '@lapse/kube/api/kind';
import { type CustomKind, defineCustomKind } from '@lapse/kube/api/kinds/customKind';
import { VolumeSnapshotClass, VolumeSnapshotContent } from '@lapse/kube/api/kinds/volumes';
import type { KubeObject } from '@lapse/kube/api/object';

const APPROVED = {
  'api-approved.kubernetes.io': 'https://github.com/kubernetes-csi/external-snapshotter/pull/665',
};
const text: JsonObject = { type: 'string' };
const policy: JsonObject = { type: 'string', enum: ['Delete', 'Retain'] };

/** Marks the CRD as external: without Lapse's label, with the approval annotation that this API group needs. */
export function external<T extends KubeObject>({ kind, crd }: CustomKind<T>): CustomKind {
  const metadata = { name: crd.metadata.name!, annotations: APPROVED };
  return { kind: kind as Kind, crd: { ...crd, metadata } };
}

const content = external(
  defineCustomKind<VolumeSnapshotContent>({
    kind: VolumeSnapshotContent,
    description: 'A snapshot in the storage system.',
    shortNames: ['vsc'],
    spec: {
      type: 'object',
      required: ['deletionPolicy', 'driver', 'source', 'volumeSnapshotRef'],
      properties: {
        deletionPolicy: policy,
        driver: text,
        volumeSnapshotClassName: text,
        sourceVolumeMode: text,
        source: {
          type: 'object',
          properties: { volumeHandle: text, snapshotHandle: text },
        },
        volumeSnapshotRef: {
          type: 'object',
          properties: { apiVersion: text, kind: text, name: text, namespace: text, uid: text },
          'x-kubernetes-validations': [
            {
              rule: 'has(self.name) == has(self.__namespace__)',
              message: 'both name and namespace must be set, or neither',
            },
          ],
        },
      },
    },
    status: {
      type: 'object',
      properties: {
        creationTime: { type: 'integer', format: 'int64' },
        readyToUse: { type: 'boolean' },
        restoreSize: { type: 'integer', format: 'int64', minimum: 0 },
        snapshotHandle: text,
        error: {
          type: 'object',
          properties: { message: text, time: { type: 'string', format: 'date-time' } },
        },
      },
    },
    columns: [
      { name: 'ReadyToUse', type: 'boolean', jsonPath: '.status.readyToUse' },
      { name: 'Driver', type: 'string', jsonPath: '.spec.driver' },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
  }),
);

export function snapshotClassKind(): CustomKind {
  const made = external(
    defineCustomKind<VolumeSnapshotClass>({
      kind: VolumeSnapshotClass,
      description: 'How snapshots are taken.',
      required: ['driver', 'deletionPolicy'],
      spec: {},
    }),
  );
  // A class has its fields at the top level, not in a spec.
  const crd = structuredClone(made.crd);
  const version = (crd.spec as { versions: { schema: { openAPIV3Schema: JsonObject } }[] }).versions[0]!;
  version.schema.openAPIV3Schema.properties = {
    apiVersion: text,
    kind: text,
    metadata: { type: 'object' },
    driver: text,
    deletionPolicy: policy,
    parameters: { type: 'object', additionalProperties: text },
  };
  return { ...made, crd };
}

export const SNAPSHOT_KINDS: readonly CustomKind[] = [content, snapshotClassKind()];
