// Constants for the conditions, annotations and names of requests and keepers. Other code must use these constants; a
// test fails if it contains one of them as a literal.

import { type Millis, minutes } from '@lapse/base/instant';

/** The only condition of a request. It is written when the request has ended. */
export const READY = 'Ready';

/** Why the request ended. */
export const Reason = {
  Completed: 'Completed',
  InvalidMode: 'InvalidMode',
  InvalidReference: 'InvalidReference',
  NotFound: 'NotFound',
  RBACDenied: 'RBACDenied',
  NotBound: 'NotBound',
  InvalidSource: 'InvalidSource',
  SnapshotCreationFailed: 'SnapshotCreationFailed',
  UnsupportedSnapshotStack: 'UnsupportedSnapshotStack',
  /** The artifact was deleted before the request ended. */
  ArtifactLost: 'ArtifactLost',
  OwnershipConflict: 'OwnershipConflict',
  InternalError: 'InternalError',
  InUse: 'InUse',
  InvalidReclaimPolicy: 'InvalidReclaimPolicy',
  SourceFailed: 'SourceFailed',
  TargetConflict: 'TargetConflict',
  RestoreFailed: 'RestoreFailed',
  /** Manifest captures: an object that cannot be captured. */
  InvalidTarget: 'InvalidTarget',
  ObjectTooLarge: 'ObjectTooLarge',
  ChunkConflict: 'ChunkConflict',
  Interrupted: 'Interrupted',
  Failed: 'Failed',
  /** Only in TTL mode annotation. */
  InvalidTTL: 'InvalidTTL',
} as const;
export type Reason = (typeof Reason)[keyof typeof Reason];

/** Reasons of Ready=False that mean "not ended yet". Other controllers of these kinds write them; Lapse does not. */
export const PROGRESS_REASONS: readonly string[] = ['Pending', 'Running', 'Processing', 'TargetsPending'];

export const AnnotationKeyTTL = 'storage.deckhouse.io/ttl';
export const DefaultRequestTTL: Millis = minutes(10);
export const DefaultRequestTTLStr = '10m';
export const RequestTTLEnvName = 'REQUEST_TTL';

/** On a StorageClass: the VolumeSnapshotClass of its volumes. */
export const ANNOTATION_SNAPSHOT_CLASS = 'storage.deckhouse.io/volumesnapshotclass';
/** On a request that takes a snapshot: the VolumeSnapshotContent, recorded before it is created. */
export const ANNOTATION_CONTENT_NAME = 'storage.deckhouse.io/snapshot-content-name';
/** On a request that detaches: the volume, recorded before its claim is deleted. */
export const ANNOTATION_DETACH_PV_NAME = 'storage.deckhouse.io/detach-pv-name';
/** On a detached volume. */
export const ANNOTATION_DETACHED = 'storage.deckhouse.io/detached';
/** On a restored claim: the uid of its request. */
export const ANNOTATION_RESTORE_REQUEST = 'storage.deckhouse.io/volume-restore-request';
/** On a restore request: `apiVersion|kind|name|uid` of the keeper that the provisioner makes owner of the claim. */
export const ANNOTATION_KEEPER_REF = 'storage.deckhouse.io/object-keeper-ref';

/** Reasons of Warning Events by which a provisioner permanently refuses a restore request. */
export const PROVISIONER_REFUSALS: readonly string[] = [
  'VRRInvalidSpec',
  'VRRInvalidSource',
  'VRRTargetPVCConflict',
  'VRRRestoreFailed',
];

/** Conditions of an ObjectKeeper. */
export const KeeperCondition = { Active: 'Active', TTLActive: 'TTLActive' } as const;

export const KeeperReason = {
  ObjectExists: 'ObjectExists',
  /** The object does not exist, or another object has its name. */
  MissingFollowObject: 'MissingFollowObject',
  MissingFollowObjectRef: 'MissingFollowObjectRef',
  MissingTTL: 'MissingTTL',
  InvalidTTL: 'InvalidTTL',
  InvalidAPIVersion: 'InvalidAPIVersion',
  TTLActive: 'TTLActive',
  /** The kind is not served, so the existence of the object is unknown. */
  KindNotServed: 'KindNotServed',
  KindRecreated: 'KindRecreated',
  LookupRefused: 'LookupRefused',
} as const;
export type KeeperReason = (typeof KeeperReason)[keyof typeof KeeperReason];
