// When a Pod finished. It does not say so itself: the ends of its containers, its conditions and the moment it was first
// seen finished are put together so that the answer may be late and is never early. Which of them gave the time is part
// of the explanation.

import type { ContainerStatus, Pod } from '#api/kinds/builtin';
import { type Instant, minus } from '#base/instant';
import type { Finish } from '#lifecycle/expiry';
import { timeOf } from './finishable.ts';

interface Found {
  readonly at: Instant;
  readonly text: string;
  readonly rule: string;
}

const CONTAINERS = 'last container finished';
const OTHERS = 'last init or ephemeral container finished';
const CONDITION = 'newest condition';
const FIRST_SEEN = 'first seen finished';
/** Its own name, because it may be an end of any container. */
const LAST_TOLD = 'last end that is told';
const SILENT = 'not every container says when it ended';
const NOBODY = 'no container and no condition says when';
const NOBODY_ELSE = `${SILENT}, and no condition does`;

/** The latest of some times. */
function latest(texts: Iterable<string | undefined>, rule: string): Found | undefined {
  let best: Found | undefined;
  for (const text of texts) {
    const at = timeOf(text);
    if (at === undefined || text === undefined) continue;
    if (best === undefined || minus(at, best.at) > 0) best = { at, text, rule };
  }
  return best;
}

const endsOf = (statuses: readonly ContainerStatus[] | undefined): (string | undefined)[] =>
  (statuses ?? []).map(({ state }) => state?.terminated?.finishedAt);

/** What a status tells. */
interface Told {
  /** The last end; of init and ephemeral containers only where no container tells any. */
  readonly end: Found | undefined;
  /** Every container tells its end. Otherwise one of them may have ended after `end`. */
  readonly isWhole: boolean;
  readonly condition: Found | undefined;
}

function readTimes({ status }: Pod): Told {
  const containers = endsOf(status?.containerStatuses);
  const others = [...endsOf(status?.initContainerStatuses), ...endsOf(status?.ephemeralContainerStatuses)];
  const end = latest(containers, CONTAINERS) ?? latest(others, OTHERS);
  const counted = containers.length > 0 ? containers : others;
  const isWhole = counted.every((text) => timeOf(text) !== undefined);
  const times = (status?.conditions ?? []).map(({ lastTransitionTime }) => lastTransitionTime);
  return { end, isWhole, condition: latest(times, CONDITION) };
}

/** Of a Pod that has finished. `firstSeen` is asked for where nothing in the status is late enough. */
export function computePodFinish(pod: Pod, firstSeen?: Instant): Finish {
  const { end, isWhole, condition } = readTimes(pod);
  if (end !== undefined && isWhole) return { kind: 'finished', at: end.at, rule: end.rule };
  const seen = firstSeen === undefined ? undefined : { at: firstSeen, rule: FIRST_SEEN };
  const next = condition ?? seen;
  if (next === undefined) return { kind: 'timeUnknown', note: end === undefined ? NOBODY : NOBODY_ELSE };
  if (end === undefined) return { kind: 'finished', at: next.at, rule: next.rule };
  return minus(end.at, next.at) > 0
    ? { kind: 'finished', at: end.at, rule: `${LAST_TOLD}; ${SILENT}` }
    : { kind: 'finished', at: next.at, rule: `${next.rule}; ${SILENT}` };
}

/** A container that does not say when it ended. */
const NO_END: ContainerStatus = { name: '' };

/** Of a status, the times that decide, where they were found: `computePodFinish` says the same of it. */
export function projectFinish(pod: Pod): NonNullable<Pod['status']> {
  const { end, isWhole, condition } = readTimes(pod);
  if (end === undefined) return conditionOf(condition);
  const told: ContainerStatus = { name: '', state: { terminated: { finishedAt: end.text } } };
  const statuses = isWhole ? [told] : [told, NO_END];
  return {
    ...(end.rule === CONTAINERS ? { containerStatuses: statuses } : { initContainerStatuses: statuses }),
    ...(isWhole ? {} : conditionOf(condition)),
  };
}

const conditionOf = (found: Found | undefined): NonNullable<Pod['status']> =>
  found === undefined
    ? {}
    : { conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: found.text }] };
