// Metrics under the names that all TTL controllers share, with the kinds of the targets as labels.

import type { Instant } from '@lapse/base/instant';
import type { Counter, Registry } from '@lapse/runtime/metrics/registry';
import { type DeletionMetrics, deletionMetrics, LAG_SECONDS } from '#deletion/deletionMetrics';
import { metricKind, type Policies, standingOf } from './policies.ts';

export interface PolicyMetrics {
  /** For GuardedDeletes. */
  readonly deletion: DeletionMetrics;
  lag(kind: string, seconds: number): void;
  deleted(kind: string, namespace: string, outcome: 'deleted' | 'terminating' | 'wouldDelete'): void;
  skipped(kind: string, because: string): void;
}

/** The number of namespaces with their own series. Limited, because preview clusters create new namespaces all day. */
const MOST_NAMESPACES = 500;
const OTHERS = '_others';

export function policyMetrics(
  registry: Registry,
  controller: string,
  policies: Policies,
  now: () => Instant,
): PolicyMetrics {
  const base = deletionMetrics(registry, controller, now);
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
  const lag = registry.histogram(
    'lapse_ttl_lag_seconds',
    'From the end of the TTL to the accepted deletion.',
    ['kind'],
    LAG_SECONDS,
  );
  const gauge = (name: string, help: string, of: 'waiting' | 'due') =>
    registry.gauge(name, help, ['kind']).collect(() => countKinds(policies, now(), of));
  gauge('lapse_ttl_waiting', 'Objects that have finished and whose TTL is not over.', 'waiting');
  gauge('lapse_ttl_due', 'Objects whose TTL is over and which are still there.', 'due');
  registry
    .gauge('lapse_ttl_policies', 'Policies by whether they are at work.', ['state'])
    .collect(() => countStates(policies));
  const namespaces = new Set<string>();
  const bounded = (namespace: string): string => {
    if (namespaces.size < MOST_NAMESPACES) namespaces.add(namespace);
    return namespaces.has(namespace) ? namespace : OTHERS;
  };
  return {
    deletion: { ...base, conflicts: both(base.conflicts, conflicts) },
    lag: (kind, seconds) => lag.with(kind).observe(seconds),
    deleted: (kind, namespace, outcome) => deleted.with(kind, bounded(namespace), outcome).inc(),
    skipped: (kind, because) => skipped.with(kind, because).inc(),
  };
}

type Sample = readonly [values: readonly string[], value: number];

/** An object that several policies select counts once per policy. */
function* countKinds(policies: Policies, now: Instant, of: 'waiting' | 'due'): Generator<Sample> {
  const kinds = new Map<string, number>();
  for (const { active, records } of policies.entries()) {
    if (active === undefined) continue;
    const kind = metricKind(active.kind);
    const count = of === 'due' && !policies.isActing ? 0 : records.count(now)[of];
    kinds.set(kind, (kinds.get(kind) ?? 0) + count);
  }
  for (const [kind, count] of kinds) yield [[kind], count];
}

function* countStates(policies: Policies): Generator<Sample> {
  const states = { ready: 0, pending: 0, blind: 0, broken: 0, refused: 0 };
  for (const entry of policies.entries()) states[standingOf(entry)]++;
  for (const [state, count] of Object.entries(states)) yield [[state], count];
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
