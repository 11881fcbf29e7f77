// What becomes of an object in one instant, in which several of its owners may go. In which order the garbage collector
// sees them go is chance: these functions say what is the same in every order, and what is not. Pure.
//
// An object goes when the collector looks at it and none of the owners it still names is there. An owner that has gone,
// or waits for what it owns, is struck when it looks and another is there; one that leaves orphans strikes itself.

import type { Propagation as Manner } from '@lapse/simulation/controllers/ownerGc/compute';

/** How an owner may look, in the course of the instant, to an object that it owns. */
export type Course =
  /** It is there throughout. */
  | 'stays'
  /** There at first, and in the end not, or only to wait for what it owns. */
  | 'goes'
  /** It waits for what it owns, but somebody's finalizer keeps it: once it waits no more it is there like any other. */
  | 'wavers'
  /** There at first; then it strikes itself. */
  | 'orphans'
  /** Gone or struck before. */
  | 'absent'
  /** Nobody can tell: nothing is done to what it owns. */
  | 'unknown';

/** One owner of an object. */
export interface Tie {
  /** Which of them it takes may be chance. */
  readonly courses: readonly Course[];
  /** It cannot stop waiting before this object was looked at. */
  readonly blocks: boolean;
  /** Deleted in the foreground, whatever happens; or perhaps. */
  readonly waits: 'no' | 'perhaps' | 'surely';
}

export interface Owner {
  /** It is deleted in any order of things. */
  readonly isSure: boolean;
  /** Somebody's finalizer keeps it. */
  readonly isKept: boolean;
  /** It may have gone before. */
  readonly isPerhapsGone: boolean;
}

/** Of an owner that is deleted, in one of these manners. */
export function computeCourses(
  manners: Iterable<Manner>,
  { isSure, isKept, isPerhapsGone }: Owner,
): Course[] {
  const courses = new Set<Course>(isSure ? [] : ['stays']);
  for (const manner of manners)
    if (manner === 'Orphan') courses.add('orphans');
    else if (!isKept) courses.add('goes');
    else courses.add(manner === 'Foreground' ? 'wavers' : 'stays');
  if (isPerhapsGone) courses.add('absent');
  return [...courses];
}

/** How it looks afterwards to those that it owned and that are still there. */
export function coursesAfterwards(courses: readonly Course[]): Course[] {
  const isThere = courses.includes('stays') || courses.includes('wavers');
  const isStruck = courses.some((course) => course !== 'stays');
  return [...(isThere ? ['stays' as const] : []), ...(isStruck ? ['absent' as const] : [])];
}

export type Going = 'stays' | 'perhaps' | 'goes';

export function computeGoing(ties: readonly Tie[]): Going {
  const canGo =
    ties.every(
      ({ courses }) => courses.some((course) => course !== 'stays') && !courses.includes('unknown'),
    ) && ties.some(({ courses }) => courses.includes('goes') || courses.includes('wavers'));
  if (!canGo) return 'stays';
  // Struck for another one that is still there, an owner counts no more: the last one decides, and it must go for sure.
  const isSure = ({ courses, blocks }: Tie, or?: Course) =>
    courses.every((course) => course === 'goes' || (course === 'wavers' && blocks) || course === or);
  const mustGo = ties.some((tie) => isSure(tie)) && ties.every((tie) => isSure(tie, 'absent'));
  return mustGo ? 'goes' : 'perhaps';
}

export interface Bearing {
  /** Whether it owns something itself. */
  readonly isOwner: boolean;
  /** Something that it owns waits in turn: the collector unblocks such a circle. */
  readonly isCircle: boolean;
  /** As it asks for itself. */
  readonly inherited: Manner;
}

/** How the collector deletes it, if it does: in the foreground while an owner waits. */
export function computeManners(ties: readonly Tie[], { isOwner, isCircle, inherited }: Bearing): Manner[] {
  if (!isOwner || ties.every(({ waits }) => waits === 'no')) return [inherited];
  const surely = ties.every(
    ({ waits, blocks, courses }) =>
      (waits === 'surely' && blocks) || courses.every((course) => course === 'absent'),
  );
  return surely && !isCircle ? ['Foreground'] : ['Foreground', inherited];
}
