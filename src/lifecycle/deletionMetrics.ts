// What is counted about deletions, per controller, all of it there from the start.

import { type Instant, minus, minutes } from '#base/instant';
import type { Counter, Histogram, Registry } from '#runtime/metrics/registry';
import type { Deletion } from './deletion.ts';

// As kube-controller-manager's own histogram (0.1 s doubling to 819.2 s), and what a long outage needs beyond.
export const LAG_SECONDS = [
  ...Array.from({ length: 14 }, (_, i) => Number((0.1 * 2 ** i).toFixed(1))),
  3600,
  21_600,
  86_400,
];

const OUTCOMES = [
  'deleted',
  'terminating',
  'gone',
  'kept',
  'contended',
  'refused',
  'held',
  'wouldDelete',
] as const satisfies Deletion['kind'][];

/** Due objects that nobody tried to delete for this long are no longer ours to count. */
const STALE = minutes(10);

export interface DeletionMetrics {
  readonly lag: Histogram;
  /** 409 answers. */
  readonly conflicts: Counter;
  /** Objects that were lost twenty races in a row. */
  readonly contended: Counter;
  outcome(kind: Deletion['kind']): void;
  /** Due, and still there: tried at this instant, or to be tried then. */
  due(uid: string, at: Instant): void;
  done(uid: string): void;
}

export function deletionMetrics(registry: Registry, controller: string, now: () => Instant): DeletionMetrics {
  const labels = ['controller'];
  const total = registry.counter(
    'lapse_deletions_total',
    'Attempts to delete an object, by what came of them.',
    ['controller', 'outcome'],
  );
  for (const outcome of OUTCOMES) total.with(controller, outcome);
  /** When each was tried last, or will be tried next. */
  const due = new Map<string, Instant>();
  let swept = now();
  const forgetStale = (): void => {
    swept = now();
    for (const [uid, at] of due) if (minus(swept, at) > STALE) due.delete(uid);
  };
  registry
    .gauge('lapse_deletions_due', 'Objects whose deadline has passed and which are still there.', labels)
    .collect(() => {
      forgetStale();
      return [[[controller], due.size]];
    });
  return {
    lag: registry
      .histogram(
        'lapse_deletion_lag_seconds',
        'From the deadline to the accepted deletion.',
        labels,
        LAG_SECONDS,
      )
      .with(controller),
    conflicts: registry
      .counter('lapse_deletion_conflicts_total', 'Deletions refused because the object had changed.', labels)
      .with(controller),
    contended: registry
      .counter(
        'lapse_deletion_contended_total',
        'Objects that changed faster than they could be deleted.',
        labels,
      )
      .with(controller),
    outcome: (kind) => total.with(controller, kind).inc(),
    due(uid, at) {
      due.set(uid, at);
      // Also where nobody ever scrapes: what others deleted while it was held is told to nobody here.
      if (minus(now(), swept) > STALE) forgetStale();
    },
    done: (uid) => due.delete(uid),
  };
}
