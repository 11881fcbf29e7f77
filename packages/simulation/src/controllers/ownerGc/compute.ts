// What becomes of an object because of those who own it, and of those it owns. Pure; the same rules as the garbage
// collector of kube-controller-manager:
//   solid     the owner exists
//   waiting   the owner exists, is being deleted in the foreground, and waits for what it owns
//   dangling  there is no such owner: nothing of that kind and name here, or one with another uid
//   unknown   nobody serves that kind, or it could not be an owner: nothing is done until that changes

import type { ObjectMeta, OwnerReference } from '@lapse/kube/api/object';

export const FOREGROUND = 'foregroundDeletion';
export const ORPHAN = 'orphan';

export type Propagation = 'Background' | 'Foreground' | 'Orphan';
export type OwnerState = 'solid' | 'waiting' | 'dangling' | 'unknown';

export interface Owner {
  readonly reference: OwnerReference;
  readonly state: OwnerState;
}

/** What a pass over an object is about. */
export type Role =
  /** Nobody owns it, or it is on its way out and needs nothing from us. */
  | 'none'
  /** Alive, and owned. */
  | 'owned'
  /** Goes when nothing that blocks it is left. */
  | 'deletingDependents'
  /** Goes when it was struck from everything it owns. */
  | 'orphaning';

const has = (metadata: ObjectMeta, finalizer: string): boolean =>
  metadata.finalizers?.includes(finalizer) ?? false;

export function computeRole(metadata: ObjectMeta): Role {
  if (metadata.deletionTimestamp === undefined)
    return (metadata.ownerReferences ?? []).length > 0 ? 'owned' : 'none';
  if (has(metadata, ORPHAN)) return 'orphaning';
  return has(metadata, FOREGROUND) ? 'deletingDependents' : 'none';
}

/** Whether what exists counts as an owner that waits for what it owns. */
export const stateOfPresent = (metadata: ObjectMeta): OwnerState =>
  metadata.deletionTimestamp !== undefined && has(metadata, FOREGROUND) ? 'waiting' : 'solid';

/** Whether `dependent` holds back the owner with this uid. */
export const isBlocking = (dependent: ObjectMeta, uid: string): boolean =>
  (dependent.ownerReferences ?? []).some((ref) => ref.uid === uid && ref.blockOwnerDeletion === true);

export type Fate =
  | { readonly kind: 'keep' }
  /** Not touched: some owner cannot be judged. */
  | { readonly kind: 'hold'; readonly owner: OwnerReference }
  /** Stays for its solid owners; the others are struck. */
  | { readonly kind: 'strip'; readonly references: readonly OwnerReference[] }
  /** Part of a circle that would wait for itself: it blocks nobody any more, and is judged again. */
  | { readonly kind: 'unblock'; readonly references: readonly OwnerReference[] }
  | { readonly kind: 'delete'; readonly propagation: Propagation };

export interface Surroundings {
  readonly owners: readonly Owner[];
  /** What the object owns itself. */
  readonly dependents: readonly ObjectMeta[];
  /** Whether its kind comes from a CustomResourceDefinition. */
  readonly isCustom: boolean;
}

/** Of an object whose role is `owned`. */
export function computeFate(metadata: ObjectMeta, surroundings: Surroundings): Fate {
  const { owners, dependents } = surroundings;
  const unknown = owners.find(({ state }) => state === 'unknown');
  if (unknown !== undefined) return { kind: 'hold', owner: unknown.reference };
  const gone = new Set(owners.filter(({ state }) => state !== 'solid').map(({ reference }) => reference.uid));
  if (gone.size === 0) return { kind: 'keep' };
  const references = metadata.ownerReferences ?? [];
  if (owners.some(({ state }) => state === 'solid'))
    return { kind: 'strip', references: references.filter(({ uid }) => !gone.has(uid)) };
  if (dependents.length > 0 && owners.some(({ state }) => state === 'waiting')) {
    const isCircle = dependents.some((dependent) => computeRole(dependent) === 'deletingDependents');
    const unblock = isCircle ? unblocked(references, surroundings.isCustom) : undefined;
    return unblock === undefined
      ? { kind: 'delete', propagation: 'Foreground' }
      : { kind: 'unblock', references: unblock };
  }
  return { kind: 'delete', propagation: inheritedPropagation(metadata) };
}

/**
 * Undefined when nothing would change. Upstream patches built-in kinds reference by reference and custom ones as a
 * whole, where it also writes `false` into those that said nothing.
 */
function unblocked(
  references: readonly OwnerReference[],
  isCustom: boolean,
): readonly OwnerReference[] | undefined {
  const isMeant = ({ blockOwnerDeletion: blocks }: OwnerReference) =>
    isCustom ? blocks !== false : blocks === true;
  if (!references.some(isMeant)) return undefined;
  return references.map((ref) => (isMeant(ref) ? { ...ref, blockOwnerDeletion: false } : ref));
}

/** Somebody asked for a manner of deletion beforehand: it is honoured. */
export function inheritedPropagation(metadata: ObjectMeta): Propagation {
  if (has(metadata, ORPHAN)) return 'Orphan';
  return has(metadata, FOREGROUND) ? 'Foreground' : 'Background';
}
