// Computes the state of an object when several of its owners are deleted at the same time. The order in which the
// garbage collector processes them is undetermined: these functions compute what is the same in every order, and what
// is not. Pure functions.
//
// An object is deleted when the collector processes it and none of the owners it still refers to exists. If another
// owner exists, the references to deleted and waiting owners are removed. An owner with orphan propagation removes
// its own reference.

import type { Propagation as Policy } from '@lapse/simulation/controllers/ownerGc/compute';

/** The states of an owner during this time, as its dependent sees them. */
export type Course =
  /** It exists throughout. */
  | 'exists'
  /** It exists at first. Afterwards it does not exist, or only waits for its dependents. */
  | 'deleted'
  /**
   * It waits for its dependents, but has a foreign finalizer: when it stops waiting it counts as an existing owner
   * again.
   */
  | 'waitsThenExists'
  /** It exists at first. Then it removes its own reference (orphan propagation). */
  | 'orphans'
  /** It was deleted, or its reference removed, before. */
  | 'absent'
  /** Unknown: nothing is done to its dependents. */
  | 'unknown';

/** One owner of an object. */
export interface Tie {
  /** More than one if the order of events decides. */
  readonly courses: readonly Course[];
  /** It cannot stop waiting before this object is processed (blockOwnerDeletion). */
  readonly blocks: boolean;
  /** Deleted with foreground propagation: in no, some or every order of events. */
  readonly waits: 'no' | 'uncertain' | 'certain';
}

export function computeWaits(policies: ReadonlySet<Policy> | undefined): Tie['waits'] {
  if (policies?.has('Foreground') !== true) return 'no';
  return policies.size === 1 ? 'certain' : 'uncertain';
}

export interface Owner {
  /** It is deleted in every order of events. */
  readonly isSure: boolean;
  /** A foreign finalizer keeps it. */
  readonly isKept: boolean;
  /** It may have been deleted before. */
  readonly isPerhapsGone: boolean;
}

/** The states of an owner that is deleted with one of these propagation policies. */
export function computeCourses(
  policies: Iterable<Policy>,
  { isSure, isKept, isPerhapsGone }: Owner,
): Course[] {
  const courses = new Set<Course>(isSure ? [] : ['exists']);
  for (const policy of policies)
    if (policy === 'Orphan') courses.add('orphans');
    else if (!isKept) courses.add('deleted');
    else courses.add(policy === 'Foreground' ? 'waitsThenExists' : 'exists');
  if (isPerhapsGone) courses.add('absent');
  return [...courses];
}

/** Its states as seen afterwards by dependents that still exist. */
export function coursesAfterwards(courses: readonly Course[]): Course[] {
  const isThere = courses.includes('exists') || courses.includes('waitsThenExists');
  const isRemoved = courses.some((course) => course !== 'exists');
  return [...(isThere ? ['exists' as const] : []), ...(isRemoved ? ['absent' as const] : [])];
}

/** What happens to a dependent in every order of events, or `uncertain`. */
export type DependentResult = 'kept' | 'uncertain' | 'deleted';

export function computeResult(ties: readonly Tie[]): DependentResult {
  const canBeDeleted =
    ties.every(
      ({ courses }) => courses.some((course) => course !== 'exists') && !courses.includes('unknown'),
    ) && ties.some(({ courses }) => courses.includes('deleted') || courses.includes('waitsThenExists'));
  if (!canBeDeleted) return 'kept';
  // An owner whose reference is removed because another one exists no longer counts. The last owner decides, and it
  // must certainly be deleted.
  const isSure = ({ courses, blocks }: Tie, or?: Course) =>
    courses.every(
      (course) => course === 'deleted' || (course === 'waitsThenExists' && blocks) || course === or,
    );
  const mustBeDeleted = ties.some((tie) => isSure(tie)) && ties.every((tie) => isSure(tie, 'absent'));
  return mustBeDeleted ? 'deleted' : 'uncertain';
}

export interface Bearing {
  /** Whether it has dependents itself. */
  readonly isOwner: boolean;
  /** One of its dependents waits in turn: the collector unblocks such a cycle. */
  readonly isCircle: boolean;
  /** The propagation policy from its own finalizers. */
  readonly inherited: Policy;
}

/** The propagation policy with which the collector deletes it: foreground while an owner waits. */
export function computePolicies(ties: readonly Tie[], { isOwner, isCircle, inherited }: Bearing): Policy[] {
  if (!isOwner || ties.every(({ waits }) => waits === 'no')) return [inherited];
  const certain = ties.every(
    ({ waits, blocks, courses }) =>
      (waits === 'certain' && blocks) || courses.every((course) => course === 'absent'),
  );
  return certain && !isCircle ? ['Foreground'] : ['Foreground', inherited];
}
