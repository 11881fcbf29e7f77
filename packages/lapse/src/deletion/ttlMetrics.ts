// What is counted about everything that ends by a TTL, by kind. Names are shared by all controllers of TTLs, so that one
// query answers for Jobs, Pods and whatever a policy names.

import type { Instant } from '@lapse/base/instant';
import type { Counter, Histogram, Registry } from '@lapse/runtime/metrics/registry';
import { type DeletionMetrics, deletionMetrics, LAG_SECONDS } from './deletionMetrics.ts';

export interface TtlMetrics {
  /** For GuardedDeletes: what it counts is counted here too. */
  readonly deletion: DeletionMetrics;
  deleted(namespace: string, outcome: 'deleted' | 'terminating' | 'wouldDelete'): void;
  /** Once per object. */
  skipped(because: string): void;
}

export interface TtlMetricsOptions {
  readonly registry: Registry;
  readonly controller: string;
  /** `Job`, `Pod`; for a policy, the kind of its target. */
  readonly kind: string;
  readonly now: () => Instant;
  /** Histograms of the lag in seconds; `lapse_ttl_lag_seconds{kind}` unless told. */
  readonly lag?: readonly Histogram[];
  /** Reasons to leave an object alone that are known beforehand: counted from zero. */
  readonly skips?: readonly string[];
  /** Asked at every scrape. */
  readonly count: () => { readonly waiting: number; readonly due: number };
}

/** Namespaces that get a series of their own; a cluster of previews makes new ones all day. */
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

/** One observation, several names. */
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
