// Metrics of the Cleaner controller. All series exist from the start.

import type { Counter, Registry } from '@lapse/runtime/metrics/registry';
import type { ReleaseDeletion } from '#helm/uninstall';
import type { ConditionResult, NextEvaluation } from './conditions.ts';

const RESULTS = ['true', 'false', 'error', 'budget'] as const satisfies ConditionResult['result'][];
const SCHEDULES = [
  'period',
  'found',
  'sleep limit',
  'not monotonic',
] as const satisfies NextEvaluation['why'][];
/** Hooks are not counted: Lapse created them. */
const COUNTED = ['target', 'release object', 'release record', 'cleaner'] as const;
const DISCARDED = ['unauthenticated', 'impossible', 'outdated', 'author changed'] as const;
export type DiscardedBecause = (typeof DISCARDED)[number];
export type DeletedWhat = 'target' | 'cleaner' | ReleaseDeletion;

export interface CleanerMetrics {
  evaluated(result: ConditionResult['result']): void;
  scheduled(look: NextEvaluation): void;
  deleted(what: DeletedWhat): void;
  readonly decisions: Counter;
  discarded(because: DiscardedBecause): void;
  /** `key`: of a Cleaner that is, or is no longer, stopped at its limit. */
  stopped(key: string, isStopped: boolean): void;
}

export function cleanerMetrics(registry: Registry): CleanerMetrics {
  const evaluations = registry.counter(
    'lapse_cleaner_evaluations_total',
    'Evaluations of all conditions of a Cleaner at the real time, by result.',
    ['result'],
  );
  const looks = registry.counter(
    'lapse_cleaner_looks_scheduled_total',
    'Next looks that were scheduled, by how their time was found.',
    ['by'],
  );
  const probes = registry
    .counter(
      'lapse_cleaner_search_evaluations_total',
      'Evaluations at future times, to find the time of the next evaluation.',
    )
    .with();
  const deleted = registry.counter('lapse_cleaner_deleted_total', 'Objects deleted, by what they were.', [
    'what',
  ]);
  const discarded = registry.counter(
    'lapse_cleaner_decisions_discarded_total',
    'Recorded decisions that were not carried out, by reason; unauthenticated: Lapse did not write the record.',
    ['reason'],
  );
  for (const reason of DISCARDED) discarded.with(reason);
  for (const result of RESULTS) evaluations.with(result);
  for (const by of SCHEDULES) looks.with(by);
  for (const what of COUNTED) deleted.with(what);
  const stopped = new Set<string>();
  registry
    .gauge('lapse_limit_stopped', 'Rules that are stopped at a limit, until an approval.', ['rule'])
    .collect(() => [[['Cleaner'], stopped.size]]);
  return {
    stopped: (key, isStopped) => void (isStopped ? stopped.add(key) : stopped.delete(key)),
    evaluated: (result) => evaluations.with(result).inc(),
    scheduled: ({ why, evaluations: count }) => {
      looks.with(why).inc();
      probes.inc(count);
    },
    deleted(what) {
      if (what !== 'hook') deleted.with(what).inc();
    },
    discarded: (because) => discarded.with(because).inc(),
    decisions: registry
      .counter('lapse_cleaner_decisions_total', 'Decisions to delete that were recorded.')
      .with(),
  };
}
