// Metrics about objects with a TTL, by kind. All TTL controllers share the metric names, so that one query covers Jobs,
// Pods and the target kinds of policies.

import type { Instant } from '@lapse/base/instant';
import type { Counter, Histogram, Registry } from '@lapse/runtime/metrics/registry';
import { type DeletionMetrics, deletionMetrics, LAG_SECONDS } from './deletionMetrics.ts';

export interface TtlMetrics {
  /** For GuardedDeletes: it also counts under the shared names. */
  readonly deletion: DeletionMetrics;
  deleted(namespace: string, outcome: 'deleted' | 'terminating' | 'wouldDelete'): void;
  /** Call it once per object. */
  skipped(because: string): void;
}

export interface TtlMetricsOptions {
  readonly registry: Registry;
  readonly controller: string;
  /** `Job` or `Pod`; for a policy, the kind of its target. */
  readonly kind: string;
  readonly now: () => Instant;
  /** Histograms of the lag in seconds; default: `lapse_ttl_lag_seconds{kind}`. */
  readonly lag?: readonly Histogram[];
  /** Known reasons to keep an object. Their counters start at zero. */
  readonly skips?: readonly string[];
  /** Called at every scrape. */
  readonly count: () => { readonly waiting: number; readonly due: number };
}

/** The number of namespaces with their own series. Limited, because preview clusters create new namespaces all day. */
const MOST_NAMESPACES = 500;
const OTHERS = '_others';

export function ttlMetrics(options: TtlMetricsOptions): TtlMetrics {
  const { registry, controller, kind, now, count } = options;
  const base = deletionMetrics(registry, controller, now);
  const lags = [base.lag, ...(options.lag ?? [lagOf(registry, kind)])];
  const conflicts = registry
    .counter('lapse_ttl_conflicts_total', 'Deletions by TTL refused because the object had changed.')
    .with();
  const deleted = registry.counter('lapse_ttl_deleted_total', 'Objects deleted because their TTL was over.', [
    'kind',
    'namespace',
    'outcome',
  ]);
  const skipped = registry.counter(
    'lapse_ttl_skipped_total',
    'Objects with a TTL that are left alone, and why.',
    ['kind', 'because'],
  );
  for (const because of options.skips ?? []) skipped.with(kind, because);
  const gauge = (name: string, help: string, of: 'waiting' | 'due') =>
    registry.gauge(name, help, ['kind']).collect(() => [[[kind], count()[of]]]);
  gauge('lapse_ttl_waiting', 'Objects that have finished and whose TTL is not over.', 'waiting');
  gauge('lapse_ttl_due', 'Objects whose TTL is over and which are still there.', 'due');
  const namespaces = new Set<string>();
  const bounded = (namespace: string): string => {
    if (namespaces.size < MOST_NAMESPACES) namespaces.add(namespace);
    return namespaces.has(namespace) ? namespace : OTHERS;
  };
  return {
    deletion: {
      ...base,
      lag: together(lags),
      conflicts: both(base.conflicts, conflicts),
    },
    deleted: (namespace, outcome) => deleted.with(kind, bounded(namespace), outcome).inc(),
    skipped: (because) => skipped.with(kind, because).inc(),
  };
}

const lagOf = (registry: Registry, kind: string): Histogram =>
  registry
    .histogram(
      'lapse_ttl_lag_seconds',
      'From the end of the TTL to the accepted deletion.',
      ['kind'],
      LAG_SECONDS,
    )
    .with(kind);

/** Observes each value in several histograms. */
const together = (histograms: readonly Histogram[]): Histogram => ({
  observe: (value) => {
    for (const histogram of histograms) histogram.observe(value);
  },
  get count() {
    return histograms[0]?.count ?? 0;
  },
  get sum() {
    return histograms[0]?.sum ?? 0;
  },
});

const both = (first: Counter, second: Counter): Counter => ({
  inc: (by) => {
    first.inc(by);
    second.inc(by);
  },
  get value() {
    return first.value;
  },
});
