// Metrics about objects with a TTL, by kind. The TTL controllers share the names, so that one query covers Jobs, Pods and
// the target kinds of policies.

import type { Instant } from '@lapse/base/instant';
import type { Counter, Histogram, Registry } from '@lapse/runtime/metrics/registry';
import type { Deleted } from '#deletion/deletionCounter';
import { type DeletionMetrics, deletionMetrics, LAG_SECONDS } from '#deletion/metrics';

export interface TtlMetrics {
  /** For an Expirer: conflicts also count under the shared name. */
  readonly deletion: DeletionMetrics;
  /** For `onDeleted` of an Expirer. `kind`: the label. */
  deleted(kind: string, deleted: Deleted): void;
  /** Call it once per object. */
  skipped(kind: string, because: string): void;
}

export interface TtlCounts {
  readonly waiting: number;
  readonly due: number;
}

export interface TtlMetricsOptions {
  readonly registry: Registry;
  readonly controller: string;
  readonly now: () => Instant;
  /** Counts by kind. Called at every scrape. */
  readonly count: () => Iterable<readonly [kind: string, TtlCounts]>;
  /** The kind of a controller with a single kind. Its series start at zero. */
  readonly known?: {
    readonly kind: string;
    /** Known reasons to keep an object. */
    readonly skips: readonly string[];
    /** Histograms of the lag in seconds; default: `lapse_ttl_lag_seconds{kind}`. */
    readonly lags?: readonly Histogram[];
  };
}

/** The number of namespaces with their own series. Limited, because preview clusters create new namespaces all day. */
const MOST_NAMESPACES = 500;
const OTHERS = '_others';

export function ttlMetrics({ registry, controller, now, count, known }: TtlMetricsOptions): TtlMetrics {
  const base = deletionMetrics(registry, controller, now);
  const conflicts = registry
    .counter('lapse_ttl_conflicts_total', 'Deletions by TTL refused because the object had changed.')
    .with();
  const deletedTotal = registry.counter(
    'lapse_ttl_deleted_total',
    'Objects deleted because their TTL was over.',
    ['kind', 'namespace', 'outcome'],
  );
  const skipped = registry.counter(
    'lapse_ttl_skipped_total',
    'Objects with a TTL that are left alone, and why.',
    ['kind', 'because'],
  );
  const lagsOf = lagHistograms(registry, known);
  for (const because of known?.skips ?? []) skipped.with(known!.kind, because);
  const gauge = (name: string, help: string, of: keyof TtlCounts) =>
    registry
      .gauge(name, help, ['kind'])
      .collect(() => Array.from(count(), ([kind, counts]) => [[kind], counts[of]]));
  gauge('lapse_ttl_waiting', 'Objects that have finished and whose TTL is not over.', 'waiting');
  gauge('lapse_ttl_due', 'Objects whose TTL is over and which are still there.', 'due');
  const namespaceLabel = boundedLabel();
  return {
    deletion: { ...base, conflicts: both(base.conflicts, conflicts) },
    deleted(kind, { object, outcome, lag }) {
      deletedTotal.with(kind, namespaceLabel(object.metadata.namespace ?? ''), outcome).inc();
      if (outcome !== 'wouldDelete') for (const histogram of lagsOf(kind)) histogram.observe(lag / 1000);
    },
    skipped: (kind, because) => skipped.with(kind, because).inc(),
  };
}

function lagHistograms(
  registry: Registry,
  known: TtlMetricsOptions['known'],
): (kind: string) => readonly Histogram[] {
  const { lags } = known ?? {};
  if (lags !== undefined) return () => lags;
  const lag = registry.histogram(
    'lapse_ttl_lag_seconds',
    'From the end of the TTL to the accepted deletion.',
    ['kind'],
    LAG_SECONDS,
  );
  if (known !== undefined) lag.with(known.kind);
  return (kind) => [lag.with(kind)];
}

/** The first namespaces keep their names; all others share one label. */
function boundedLabel(): (namespace: string) => string {
  const namespaces = new Set<string>();
  return (namespace) => {
    if (namespaces.size < MOST_NAMESPACES) namespaces.add(namespace);
    return namespaces.has(namespace) ? namespace : OTHERS;
  };
}

const both = (first: Counter, second: Counter): Counter => ({
  inc: (by) => {
    first.inc(by);
    second.inc(by);
  },
  get value() {
    return first.value;
  },
});
