// Index of owners and dependents, with the data needed for deletions. For most objects only the uid is kept. For
// dependents, and for objects in namespaces to be deleted, it keeps what the garbage collector reads.

import { stringInterner } from '@lapse/base/stringInterner';
import type { Kind } from '@lapse/kube/api/kind';
import { apiVersionOf, type KubeObject, type ObjectMeta, type OwnerReference } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';
import {
  FOREGROUND,
  inheritedPropagation,
  ORPHAN,
  type Owner,
  type OwnerState,
  type Propagation,
  stateOfPresent,
} from '@lapse/simulation/controllers/ownerGc/compute';
import { resourceId } from '@lapse/simulation/controllers/ownerGc/kinds';
import { nameOf, type ObjectName } from '#controllers/forecaster';
import { UidSet } from './uids.ts';

const NONE: string[] = [];

/** An object that may be deleted with an owner or its namespace. */
export interface Member {
  readonly kind: Kind;
  readonly metadata: ObjectMeta;
}

export const nameOfMember = ({ kind, metadata }: Member): ObjectName =>
  nameOf(kind, { apiVersion: '', kind: '', metadata });

/** Additional data of the few objects that need it. */
interface Peculiar {
  readonly state: OwnerState;
  /** Finalizers other than those of the garbage collector. */
  readonly keptBy: readonly string[];
  /** The propagation policy if the DELETE sets none. */
  readonly policy: Propagation;
}

const isForeign = (finalizer: string): boolean => finalizer !== FOREGROUND && finalizer !== ORPHAN;

export class Ownership {
  readonly #kinds: ReadonlyMap<string, Kind>;
  readonly #endingNamespaces: ReadonlySet<string>;
  readonly #present = new UidSet();
  readonly #peculiar = new Map<string, Peculiar>();
  readonly #byOwner = new Map<string, Member[]>();
  readonly #byNamespace = new Map<string, Member[]>();

  readonly #unread = new Set<string>();

  /** For namespaces to be deleted, all objects are kept. */
  constructor(served: readonly ServedKind[], endingNamespaces: ReadonlySet<string>) {
    this.#kinds = new Map(served.map((kind) => [`${apiVersionOf(kind)}/${kind.kind}`, kind]));
    this.#endingNamespaces = endingNamespaces;
  }

  /** The same object may be added more than once. */
  add(kind: Kind, { metadata }: KubeObject): void {
    const { uid = '', namespace = '', ownerReferences = [] } = metadata;
    if (!this.#present.add(uid, namespace)) return;
    const peculiar = peculiarityOf(metadata);
    if (peculiar !== undefined) this.#peculiar.set(uid, peculiar);
    const ends = namespace !== '' && this.#endingNamespaces.has(namespace);
    if (ownerReferences.length === 0 && !ends) return;
    const member: Member = { kind, metadata: bones(metadata, this.#share) };
    for (const owner of new Set(ownerReferences.map((reference) => reference.uid)))
      append(this.#byOwner, owner, member);
    if (ends) append(this.#byNamespace, namespace, member);
  }

  readonly #share = stringInterner();

  /** Objects of this kind were not read or cannot be read. They are assumed to exist. */
  doubt(kind: Kind): void {
    this.#unread.add(resourceId(kind));
  }

  /** Foreign finalizers: a deleted object is terminating until they are removed. */
  keptBy(uid: string): readonly string[] {
    return this.#peculiar.get(uid)?.keptBy ?? NONE;
  }

  /** The propagation policy of an object if the DELETE sets none. */
  policyOf(uid: string): Propagation {
    return this.#peculiar.get(uid)?.policy ?? 'Background';
  }

  dependentsOf(uid: string): readonly Member[] {
    return this.#byOwner.get(uid) ?? [];
  }

  inNamespace(name: string): readonly Member[] {
    return this.#byNamespace.get(name) ?? [];
  }

  /** The owners of an object in their current state. */
  ownersOf({ namespace = '' }: ObjectMeta, references: readonly OwnerReference[]): Owner[] {
    return references.map((reference) => ({ reference, state: this.#stateOf(reference, namespace) }));
  }

  #stateOf({ apiVersion, kind, uid }: OwnerReference, namespace: string): OwnerState {
    const owner = this.#kinds.get(`${apiVersion}/${kind}`);
    // A cluster-scoped object cannot have a namespaced owner: its namespace would be undefined.
    if (owner === undefined || (owner.namespaced && namespace === '')) return 'unknown';
    if (this.#present.has(uid, owner.namespaced ? namespace : ''))
      return this.#peculiar.get(uid)?.state ?? 'solid';
    return this.#unread.has(resourceId(owner)) ? 'solid' : 'dangling';
  }
}

function peculiarityOf(metadata: ObjectMeta): Peculiar | undefined {
  const { finalizers = NONE } = metadata;
  if (metadata.deletionTimestamp === undefined && finalizers.length === 0) return undefined;
  const keptBy = finalizers.filter(isForeign);
  return { state: stateOfPresent(metadata), keptBy, policy: inheritedPropagation(metadata) };
}

function append(map: Map<string, Member[]>, key: string, member: Member): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [member]);
  else known.push(member);
}

/** The fields of a dependent that the garbage collector reads. */
function bones(metadata: ObjectMeta, share: (text: string) => string): ObjectMeta {
  const { name = '', namespace, uid = '', deletionTimestamp, finalizers, ownerReferences } = metadata;
  return {
    name,
    uid,
    ...(namespace === undefined ? {} : { namespace: share(namespace) }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(finalizers === undefined ? {} : { finalizers: finalizers.map(share) }),
    ...(ownerReferences === undefined
      ? {}
      : { ownerReferences: ownerReferences.map((reference) => tieOf(reference, share)) }),
  };
}

/** The uid identifies the owner. */
const tieOf = (
  { apiVersion, kind, uid, blockOwnerDeletion }: OwnerReference,
  share: (text: string) => string,
): OwnerReference => ({
  apiVersion: share(apiVersion),
  kind: share(kind),
  name: '',
  uid,
  ...(blockOwnerDeletion === true ? { blockOwnerDeletion } : {}),
});
