// The kinds of snapshot.storage.k8s.io with the names, fields and validation rules of external-snapshotter v8, for the
// embedded server only. On a real cluster the storage vendor installs these CustomResourceDefinitions.

import type { JsonObject } from '@lapse/kube/api/json';
import type { Kind } from '@lapse/kube/api/kind';
import { type CustomKind, defineCustomKind } from '@lapse/kube/api/kinds/customKind';
import { VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent } from '@lapse/kube/api/kinds/volumes';
import type { KubeObject } from '@lapse/kube/api/object';

const APPROVED = {
  'api-approved.kubernetes.io': 'https://github.com/kubernetes-csi/external-snapshotter/pull/665',
};
const text: JsonObject = { type: 'string' };
const policy: JsonObject = { type: 'string', enum: ['Delete', 'Retain'] };
const error: JsonObject = {
  type: 'object',
  properties: { message: text, time: { type: 'string', format: 'date-time' } },
};
const rule = (of: string, message: string): JsonObject => ({ rule: of, message });
const fixed = (field: string): JsonObject => ({
  ...text,
  'x-kubernetes-validations': [rule('self == oldSelf', `${field} is immutable`)],
});
const keptOnceSet = (field: string): JsonObject =>
  rule(`!has(oldSelf.${field}) || has(self.${field})`, `${field} is required once set`);

/** Exactly one of two fields, neither of which can change. */
const eitherOf = (one: string, other: string): JsonObject => ({
  type: 'object',
  properties: { [one]: fixed(one), [other]: fixed(other) },
  oneOf: [{ required: [one] }, { required: [other] }],
  'x-kubernetes-validations': [keptOnceSet(one), keptOnceSet(other)],
});

/** Marks the CRD as external: without Lapse's label, with the approval annotation that this API group needs. */
function external<T extends KubeObject>({ kind, crd }: CustomKind<T>): CustomKind {
  const metadata = { name: crd.metadata.name!, annotations: APPROVED };
  return { kind: kind as Kind, crd: { ...crd, metadata } };
}

const contentKind = (reference: JsonObject) =>
  defineCustomKind<VolumeSnapshotContent>({
    kind: VolumeSnapshotContent,
    description: 'A snapshot in the storage system.',
    shortNames: ['vsc', 'vscs'],
    spec: {
      type: 'object',
      required: ['deletionPolicy', 'driver', 'source', 'volumeSnapshotRef'],
      properties: {
        deletionPolicy: policy,
        driver: text,
        source: eitherOf('volumeHandle', 'snapshotHandle'),
        sourceVolumeMode: fixed('sourceVolumeMode'),
        volumeSnapshotClassName: text,
        volumeSnapshotRef: {
          type: 'object',
          properties: {
            apiVersion: text,
            fieldPath: text,
            kind: text,
            name: text,
            namespace: text,
            resourceVersion: text,
            uid: text,
          },
          'x-kubernetes-map-type': 'atomic',
          'x-kubernetes-validations': [reference],
        },
      },
      'x-kubernetes-validations': [keptOnceSet('sourceVolumeMode')],
    },
    status: {
      type: 'object',
      properties: {
        creationTime: { type: 'integer', format: 'int64' },
        error,
        readyToUse: { type: 'boolean' },
        restoreSize: { type: 'integer', format: 'int64', minimum: 0 },
        snapshotHandle: text,
      },
    },
    columns: [
      { name: 'ReadyToUse', type: 'boolean', jsonPath: '.status.readyToUse' },
      { name: 'RestoreSize', type: 'integer', jsonPath: '.status.restoreSize' },
      { name: 'DeletionPolicy', type: 'string', jsonPath: '.spec.deletionPolicy' },
      { name: 'Driver', type: 'string', jsonPath: '.spec.driver' },
      { name: 'VolumeSnapshot', type: 'string', jsonPath: '.spec.volumeSnapshotRef.name' },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
  });

const snapshot = defineCustomKind<VolumeSnapshot>({
  kind: VolumeSnapshot,
  description: 'A request for a snapshot of a claim, or for an existing snapshot.',
  shortNames: ['vs'],
  spec: {
    type: 'object',
    required: ['source'],
    properties: {
      source: eitherOf('persistentVolumeClaimName', 'volumeSnapshotContentName'),
      volumeSnapshotClassName: {
        ...text,
        'x-kubernetes-validations': [
          rule('size(self) > 0', 'volumeSnapshotClassName must not be the empty string when set'),
        ],
      },
    },
  },
  status: {
    type: 'object',
    properties: {
      boundVolumeSnapshotContentName: {
        ...text,
        'x-kubernetes-validations': [
          rule('self == oldSelf', 'boundVolumeSnapshotContentName is immutable once set'),
        ],
      },
      creationTime: { type: 'string', format: 'date-time' },
      error,
      readyToUse: { type: 'boolean' },
      restoreSize: text,
    },
  },
  columns: [
    { name: 'ReadyToUse', type: 'boolean', jsonPath: '.status.readyToUse' },
    { name: 'SourcePVC', type: 'string', jsonPath: '.spec.source.persistentVolumeClaimName' },
    { name: 'RestoreSize', type: 'string', jsonPath: '.status.restoreSize' },
    { name: 'SnapshotClass', type: 'string', jsonPath: '.spec.volumeSnapshotClassName' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});

function snapshotClassKind(): CustomKind {
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

const kindsWith = (reference: JsonObject): readonly CustomKind[] => [
  external(contentKind(reference)),
  external(snapshot),
  snapshotClassKind(),
];

export const STOCK_SNAPSHOT_KINDS = kindsWith(
  rule(
    'has(self.name) && has(self.__namespace__)',
    'both spec.volumeSnapshotRef.name and spec.volumeSnapshotRef.namespace must be set',
  ),
);

/** The CRDs of Deckhouse: they also accept a VolumeSnapshotContent without a VolumeSnapshot. */
export const DECKHOUSE_SNAPSHOT_KINDS = kindsWith(
  rule('has(self.name) == has(self.__namespace__)', 'both name and namespace must be set, or neither'),
);
