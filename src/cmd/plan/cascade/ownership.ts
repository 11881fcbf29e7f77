// Who owns whom, as far as it matters when something is deleted. Of most objects only the uid is kept; of those that are
// owned, or live in a namespace that goes, what the garbage collector reads of them.

import type { Kind } from '#api/kind';
import { apiVersionOf, type KubeObject, type ObjectMeta, type OwnerReference } from '#api/object';
import type { ServedKind } from '#client/discovery';
import { nameOf, type ObjectName } from '#controllers/foresight';
import {
  FOREGROUND,
  inheritedPropagation,
  ORPHAN,
  type Owner,
  type OwnerState,
  type Propagation,
  stateOfPresent,
} from '#standins/ownerGc/compute';
import { resourceId } from '#standins/ownerGc/kinds';

/** An object that may be taken along. */
export interface Member {
  readonly kind: Kind;
  readonly metadata: ObjectMeta;
}

export const nameOfMember = ({ kind, metadata }: Member): ObjectName =>
  nameOf(kind, { apiVersion: '', kind: '', metadata });

interface Presence {
  readonly namespace: string;
  readonly state: OwnerState;
  /** Who keeps it when it is deleted, beside the garbage collector. */
  readonly keptBy?: readonly string[];
  /** How it is deleted when nobody says how. */
  readonly manner?: Propagation;
}

const isForeign = (finalizer: string): boolean => finalizer !== FOREGROUND && finalizer !== ORPHAN;

const SOLID = new Map<string, Presence>();
/** One value per namespace instead of one per object. */
const solidIn = (namespace: string): Presence => {
  const known = SOLID.get(namespace);
  if (known !== undefined) return known;
  const made: Presence = { namespace, state: 'solid' };
  if (SOLID.size < 100_000) SOLID.set(namespace, made);
  return made;
};

export class Ownership {
  readonly #kinds: ReadonlyMap<string, Kind>;
  readonly #endingNamespaces: ReadonlySet<string>;
  readonly #present = new Map<string, Presence>();
  readonly #byOwner = new Map<string, Member[]>();
  readonly #byNamespace = new Map<string, Member[]>();

  readonly #unread = new Set<string>();

  /** Of objects in namespaces that end all are kept. */
  constructor(served: readonly ServedKind[], endingNamespaces: ReadonlySet<string>) {
    this.#kinds = new Map(served.map((kind) => [`${apiVersionOf(kind)}/${kind.kind}`, kind]));
    this.#endingNamespaces = endingNamespaces;
  }

  /** The same object may come more than once. */
  add(kind: Kind, { metadata }: KubeObject): void {
    const { uid = '', namespace = '', ownerReferences = [] } = metadata;
    if (this.#present.has(uid)) return;
    this.#present.set(uid, presenceOf(metadata));
    const ends = namespace !== '' && this.#endingNamespaces.has(namespace);
    if (ownerReferences.length === 0 && !ends) return;
    const member: Member = { kind, metadata: bones(metadata) };
    for (const owner of new Set(ownerReferences.map((reference) => reference.uid)))
      append(this.#byOwner, owner, member);
    if (ends) append(this.#byNamespace, namespace, member);
  }

  /** Objects of this kind could not be read, or were not: they are taken to exist. */
  doubt(kind: Kind): void {
    this.#unread.add(resourceId(kind));
  }

  /** Finalizers of others: a deleted object stays until they are gone. */
  keptBy(uid: string): readonly string[] {
    return this.#present.get(uid)?.keptBy ?? [];
  }

  /** How an object is deleted when nobody says how. */
  mannerOf(uid: string): Propagation {
    return this.#present.get(uid)?.manner ?? 'Background';
  }

  dependentsOf(uid: string): readonly Member[] {
    return this.#byOwner.get(uid) ?? [];
  }

  inNamespace(name: string): readonly Member[] {
    return this.#byNamespace.get(name) ?? [];
  }

  /** The owners of an object as they are now. */
  ownersOf({ namespace = '' }: ObjectMeta, references: readonly OwnerReference[]): Owner[] {
    return references.map((reference) => ({ reference, state: this.#stateOf(reference, namespace) }));
  }

  #stateOf({ apiVersion, kind, uid }: OwnerReference, namespace: string): OwnerState {
    const owner = this.#kinds.get(`${apiVersion}/${kind}`);
    // A cluster-scoped object cannot be owned by something in a namespace: which one would it be?
    if (owner === undefined || (owner.namespaced && namespace === '')) return 'unknown';
    const present = this.#present.get(uid);
    if (present === undefined && this.#unread.has(resourceId(owner))) return 'solid';
    const isHere = present !== undefined && (!owner.namespaced || present.namespace === namespace);
    return isHere ? present.state : 'dangling';
  }
}

function presenceOf(metadata: ObjectMeta): Presence {
  const { namespace = '', finalizers = [] } = metadata;
  const state = stateOfPresent(metadata);
  if (state === 'solid' && finalizers.length === 0) return solidIn(namespace);
  const keptBy = finalizers.filter(isForeign);
  return { namespace, state, keptBy, manner: inheritedPropagation(metadata) };
}

function append(map: Map<string, Member[]>, key: string, member: Member): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [member]);
  else known.push(member);
}

const KEPT = [
  'name',
  'namespace',
  'uid',
  'deletionTimestamp',
  'finalizers',
  'ownerReferences',
] as const satisfies readonly (keyof ObjectMeta)[];

const bones = (metadata: ObjectMeta): ObjectMeta =>
  Object.fromEntries(
    KEPT.filter((field) => metadata[field] !== undefined).map((field) => [field, metadata[field]]),
  );
