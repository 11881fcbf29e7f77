// Decides which captured objects are not restored, and why: objects that controllers recreate, objects that would repeat
// their work, and objects that are never applied by users.

import { isObject, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject, OwnerReference } from '@lapse/kube/api/object';
import { ANNOTATION_REDACTED } from '#api/stateSnapshotter/conditions';
import { typeOf } from './strip.ts';

export interface SkipOptions {
  /** Also restore finished Jobs and Pods. They run again. */
  readonly includeFinished?: boolean;
}

/** What the decision about one object needs to know about the other objects of the checkpoint. */
export interface Captured {
  readonly uids: ReadonlySet<string>;
  /** `apps/Deployment name`. */
  readonly names: ReadonlySet<string>;
  /** Names of Services with a selector, whose endpoints a controller manages. */
  readonly selecting: ReadonlySet<string>;
}

const fieldOf = (object: KubeObject, name: string): JsonObject => {
  const value = object[name];
  return isObject(value) ? value : {};
};

export class CapturedIndex implements Captured {
  readonly uids = new Set<string>();
  readonly names = new Set<string>();
  readonly selecting = new Set<string>();

  add(object: KubeObject): void {
    const { uid, name = '' } = object.metadata;
    if (typeof uid === 'string' && uid !== '') this.uids.add(uid);
    this.names.add(`${typeOf(object)} ${name}`);
    if (typeOf(object) === '/Service' && isObject(fieldOf(object, 'spec').selector)) this.selecting.add(name);
  }
}

/** Kinds whose objects a controller recreates when their owner is restored. */
const MADE_BY_CONTROLLERS = new Set([
  '/Pod',
  '/ReplicationController',
  '/PersistentVolumeClaim',
  'apps/ReplicaSet',
  'batch/Job',
  'resource.k8s.io/ResourceClaim',
]);

/** Kinds that are never restored, with the reason. */
const NEVER: Readonly<Record<string, string>> = {
  '/Event': 'Events are not restored',
  'events.k8s.io/Event': 'Events are not restored',
  'coordination.k8s.io/Lease': 'Leases belong to their current holder',
  'apps/ControllerRevision': 'its controller writes its own history',
  'storage.k8s.io/CSIStorageCapacity': 'the storage driver publishes it',
  'snapshot.storage.k8s.io/VolumeSnapshot': 'applied again it would take another snapshot',
  'state-snapshotter.deckhouse.io/ManifestCaptureRequest': 'a request is carried out once; make a new one',
  'storage.deckhouse.io/VolumeCaptureRequest': 'a request is carried out once; make a new one',
  'storage.deckhouse.io/VolumeRestoreRequest': 'a request is carried out once; make a new one',
};

/** The reason to skip the object; undefined if it is restored. */
export function computeSkip(
  object: KubeObject,
  captured: Captured,
  options: SkipOptions = {},
): string | undefined {
  const type = typeOf(object);
  if (Object.hasOwn(NEVER, type)) return NEVER[type];
  return (
    ownedReason(object, type, captured) ??
    kindReason(object, type, captured) ??
    finished(object, type, options)
  );
}

function ownedReason(object: KubeObject, type: string, captured: Captured): string | undefined {
  if (!MADE_BY_CONTROLLERS.has(type)) return undefined;
  const owner = controllerOf(object);
  if (owner === undefined) return undefined;
  if (captured.uids.has(owner.uid)) return `${owner.kind} ${owner.name} recreates it`;
  // The ReplicaSet between a Pod and its Deployment may be missing in the checkpoint.
  const hash = object.metadata.labels?.['pod-template-hash'];
  if (type !== '/Pod' || owner.kind !== 'ReplicaSet' || hash === undefined) return undefined;
  const deployment = owner.name.endsWith(`-${hash}`) ? owner.name.slice(0, -hash.length - 1) : '';
  return captured.names.has(`apps/Deployment ${deployment}`)
    ? `Deployment ${deployment} recreates it`
    : undefined;
}

function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  const { ownerReferences } = metadata;
  return Array.isArray(ownerReferences)
    ? ownerReferences.find((owner) => isObject(owner) && owner.controller === true)
    : undefined;
}

function kindReason(object: KubeObject, type: string, captured: Captured): string | undefined {
  const { name = '', namespace, labels = {} } = object.metadata;
  switch (type) {
    case '/Secret':
      return secretReason(object);
    case '/ConfigMap':
      return name === 'kube-root-ca.crt' ? 'Kubernetes creates it in every namespace' : undefined;
    case '/Service':
      return name === 'kubernetes' && namespace === 'default' ? 'the API server makes it' : undefined;
    case '/Endpoints':
      return captured.selecting.has(name) ? `Service ${name} finds its addresses again` : undefined;
    case 'discovery.k8s.io/EndpointSlice':
      return /\.k8s\.io$/.test(labels['endpointslice.kubernetes.io/managed-by'] ?? '')
        ? 'its Service finds its addresses again'
        : undefined;
    default:
      return undefined;
  }
}

function secretReason({ type, metadata }: KubeObject): string | undefined {
  if (type === 'kubernetes.io/service-account-token')
    return 'a token is good for one account of one cluster; a new one is made on demand';
  return metadata.annotations?.[ANNOTATION_REDACTED] === undefined
    ? undefined
    : 'it was captured without its values; create it again';
}

function finished(object: KubeObject, type: string, { includeFinished }: SkipOptions): string | undefined {
  if (includeFinished === true) return undefined;
  const status = fieldOf(object, 'status');
  if (type === '/Pod' && (status.phase === 'Succeeded' || status.phase === 'Failed'))
    return 'it has ended; --include-finished runs it again';
  const conditions = Array.isArray(status.conditions) ? status.conditions.filter(isObject) : [];
  const isDone = conditions.some(
    (one) => (one.type === 'Complete' || one.type === 'Failed') && one.status === 'True',
  );
  return type === 'batch/Job' && isDone ? 'it has ended; --include-finished runs it again' : undefined;
}
