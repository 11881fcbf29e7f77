// Decides whether an object is garbage, from its owners and dependents. Pure. The rules are those of the garbage
// collector of kube-controller-manager. States of an owner:
//   solid     the owner exists
//   waiting   the owner is being deleted in the foreground and waits for its dependents
//   dangling  the owner does not exist: no object of that kind and name in the namespace, or one with another uid
//   unknown   the kind is not served or cannot be an owner: the collector does nothing until that changes

import type { ObjectMeta, OwnerReference } from '@lapse/kube/api/object';

export const FOREGROUND = 'foregroundDeletion';
export const ORPHAN = 'orphan';

export type Propagation = 'Background' | 'Foreground' | 'Orphan';
export type OwnerState = 'solid' | 'waiting' | 'dangling' | 'unknown';

export interface Owner {
  readonly reference: OwnerReference;
  readonly state: OwnerState;
}

/** Which garbage collection task applies to an object. */
export type Role =
  /** It has no owner, or it is terminating and needs no action. */
  | 'none'
  /** Not terminating, with owners. */
  | 'owned'
  /** Foreground deletion: it is released when no blocking dependent is left. */
  | 'deletingDependents'
  /** Orphan deletion: it is released after its references are removed from all dependents. */
  | 'orphaning';

const has = (metadata: ObjectMeta, finalizer: string): boolean =>
  metadata.finalizers?.includes(finalizer) ?? false;

export function computeRole(metadata: ObjectMeta): Role {
  if (metadata.deletionTimestamp === undefined)
    return (metadata.ownerReferences ?? []).length > 0 ? 'owned' : 'none';
  if (has(metadata, ORPHAN)) return 'orphaning';
  return has(metadata, FOREGROUND) ? 'deletingDependents' : 'none';
}

/** The state of an existing owner. */
export const stateOfPresent = (metadata: ObjectMeta): OwnerState =>
  metadata.deletionTimestamp !== undefined && has(metadata, FOREGROUND) ? 'waiting' : 'solid';

/** Whether `dependent` blocks the foreground deletion of the owner with this uid. */
export const isBlocking = (dependent: ObjectMeta, uid: string): boolean =>
  (dependent.ownerReferences ?? []).some((ref) => ref.uid === uid && ref.blockOwnerDeletion === true);

export type Decision =
  | { readonly kind: 'keep' }
  /** Not changed: the state of an owner is unknown. */
  | { readonly kind: 'hold'; readonly owner: OwnerReference }
  /** Kept for its solid owners; the other references are removed. */
  | { readonly kind: 'strip'; readonly references: readonly OwnerReference[] }
  /** Part of a cycle of blocking references: its references stop blocking, and it is evaluated again. */
  | { readonly kind: 'unblock'; readonly references: readonly OwnerReference[] }
  | { readonly kind: 'delete'; readonly propagation: Propagation };

export interface Surroundings {
  readonly owners: readonly Owner[];
  /** The dependents of the object. */
  readonly dependents: readonly ObjectMeta[];
  /** Whether its kind comes from a CustomResourceDefinition. */
  readonly isCustom: boolean;
}

/** Decides about an object whose role is `owned`. */
export function computeDecision(metadata: ObjectMeta, surroundings: Surroundings): Decision {
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
 * Returns undefined if nothing would change. The garbage collector of Kubernetes patches single references of built-in
 * kinds. For custom kinds it replaces the list and also sets unset values to `false`.
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

/** The propagation policy from a finalizer that was set before the deletion. */
export function inheritedPropagation(metadata: ObjectMeta): Propagation {
  if (has(metadata, ORPHAN)) return 'Orphan';
  return has(metadata, FOREGROUND) ? 'Foreground' : 'Background';
}
