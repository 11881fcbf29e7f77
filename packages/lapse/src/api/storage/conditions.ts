// Every word that requests and keepers say in their conditions, annotations and names, once. Code elsewhere uses these
// constants; a test fails where it spells one of them out.

import { type Millis, minutes } from '@lapse/base/instant';

/** The only condition of a request, written when it has ended. */
export const READY = 'Ready';

/** Why a request ended. */
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
  /** Of manifests: an object that cannot be captured at all. */
  InvalidTarget: 'InvalidTarget',
  ObjectTooLarge: 'ObjectTooLarge',
  ChunkConflict: 'ChunkConflict',
  Interrupted: 'Interrupted',
  Failed: 'Failed',
  /** Only where the TTL annotation decides. */
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
/** On a request that detaches: the volume, remembered before its claim is deleted. */
export const ANNOTATION_DETACH_PV_NAME = 'storage.deckhouse.io/detach-pv-name';
/** On a detached volume. */
export const ANNOTATION_DETACHED = 'storage.deckhouse.io/detached';
/** On a restored claim: the uid of the request it was made for. */
export const ANNOTATION_RESTORE_REQUEST = 'storage.deckhouse.io/volume-restore-request';
/** On a restore request: `apiVersion|kind|name|uid` of the keeper that the provisioner makes owner of the claim. */
export const ANNOTATION_KEEPER_REF = 'storage.deckhouse.io/object-keeper-ref';

/** What a provisioner says in a Warning event about a restore request that it will never serve. */
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
  /** Gone, or another object has its name. */
  MissingFollowObject: 'MissingFollowObject',
  MissingFollowObjectRef: 'MissingFollowObjectRef',
  MissingTTL: 'MissingTTL',
  InvalidTTL: 'InvalidTTL',
  InvalidAPIVersion: 'InvalidAPIVersion',
  TTLActive: 'TTLActive',
  /** Nobody can tell whether the object exists. */
  KindNotServed: 'KindNotServed',
  KindRecreated: 'KindRecreated',
  LookupRefused: 'LookupRefused',
} as const;
export type KeeperReason = (typeof KeeperReason)[keyof typeof KeeperReason];
