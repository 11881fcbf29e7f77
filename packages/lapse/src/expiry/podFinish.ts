// Computes when a Pod finished. The status has no such field, so the time is derived from the ends of the containers, the
// conditions and the moment the controller first saw the Pod finished. The result may be late but is never early. The
// explanation names the rule that gave the time.

import { minus } from '@lapse/base/instant';
import type { ContainerStatus, Pod } from '@lapse/kube/api/kinds/builtin';
import type { Finish } from './expiry.ts';
import { type FirstSight, timeOf } from './finishable.ts';

type Found = Pick<Extract<Finish, { kind: 'finished' }>, 'at' | 'rule'>;
type FoundText = Found & { readonly text: string };

const CONTAINERS = 'last container finished';
const OTHERS = 'last init or ephemeral container finished';
const CONDITION = 'newest condition';
const FIRST_SEEN = 'first seen finished';
/** The last reported end, while at least one container reports no end. */
const LAST_REPORTED = 'last reported container end';
const SILENT = 'not every container reports its end';
const NO_TIME = 'no container and no condition reports a time';
const NO_CONDITION = `${SILENT}, and no condition has a time`;

function latest(texts: Iterable<string | undefined>, rule: string): FoundText | undefined {
  let best: FoundText | undefined;
  for (const text of texts) {
    const at = timeOf(text);
    if (at === undefined || text === undefined) continue;
    if (best === undefined || minus(at, best.at) > 0) best = { at, text, rule };
  }
  return best;
}

/** Returns the later one; the first if they are equal or the second is missing. */
const later = <F extends Found>(a: F | undefined, b: F | undefined): F | undefined =>
  a === undefined || (b !== undefined && minus(b.at, a.at) > 0) ? b : a;

const endsOf = (statuses: readonly ContainerStatus[] | undefined): (string | undefined)[] =>
  (statuses ?? []).map(({ state }) => state?.terminated?.finishedAt);

interface Times {
  /** The last end of any container: regular, init (native sidecars end last) or ephemeral. */
  readonly end: FoundText | undefined;
  /** Every container reports its end. Otherwise a container may have ended after `end`. */
  readonly isComplete: boolean;
  readonly condition: FoundText | undefined;
}

function readTimes({ status }: Pod): Times {
  const containers = endsOf(status?.containerStatuses);
  const others = [...endsOf(status?.initContainerStatuses), ...endsOf(status?.ephemeralContainerStatuses)];
  const end = later(latest(containers, CONTAINERS), latest(others, OTHERS));
  const isComplete =
    end !== undefined && [...containers, ...others].every((text) => timeOf(text) !== undefined);
  const times = (status?.conditions ?? []).map(({ lastTransitionTime }) => lastTransitionTime);
  return { end, isComplete, condition: latest(times, CONDITION) };
}

/** Whether the container statuses do not contain the finish time of the Pod. */
export const needsFirstSight = (pod: Pod): boolean => !readTimes(pod).isComplete;

/**
 * `pod` must have finished. If a container reports no end, the Pod did not finish before the last reported end, its
 * newest condition, or the moment the controller saw it turn terminal. A Pod that was terminal when the watch started
 * has no such moment: then the first sight counts only if no condition has a time.
 */
export function computePodFinish(pod: Pod, sight?: FirstSight): Finish {
  const { end, isComplete, condition } = readTimes(pod);
  if (end !== undefined && isComplete) return { kind: 'finished', at: end.at, rule: end.rule };
  const isSightNeeded = condition === undefined || sight?.isTransition === true;
  const seen = sight !== undefined && isSightNeeded ? { at: sight.at, rule: FIRST_SEEN } : undefined;
  const next = later<Found>(condition, seen);
  if (next === undefined) return { kind: 'timeUnknown', note: end === undefined ? NO_TIME : NO_CONDITION };
  if (end === undefined) return { kind: 'finished', at: next.at, rule: next.rule };
  const { at, rule } = later<Found>(next, { at: end.at, rule: LAST_REPORTED })!;
  return { kind: 'finished', at, rule: `${rule}; ${SILENT}` };
}

const NO_END: ContainerStatus = { name: '' };

/** Keeps the timestamps that decide, in their fields. `computePodFinish` returns the same result for this status. */
export function projectFinish(pod: Pod): NonNullable<Pod['status']> {
  const { end, isComplete, condition } = readTimes(pod);
  if (end === undefined) return conditionOf(condition);
  const reported: ContainerStatus = { name: '', state: { terminated: { finishedAt: end.text } } };
  const statuses = isComplete ? [reported] : [reported, NO_END];
  return {
    ...(end.rule === CONTAINERS ? { containerStatuses: statuses } : { initContainerStatuses: statuses }),
    ...(isComplete ? {} : conditionOf(condition)),
  };
}

const conditionOf = (found: FoundText | undefined): NonNullable<Pod['status']> =>
  found === undefined
    ? {}
    : { conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: found.text }] };
