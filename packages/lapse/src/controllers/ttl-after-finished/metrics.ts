// The KEP's names and upstream's for Jobs, so that existing dashboards and alerts keep working; ours for the rest.

import type { Clock } from '@lapse/base/clock';
import type { Counter, Histogram, Registry } from '@lapse/runtime/metrics/registry';
import { LAG_SECONDS } from '#deletion/deletionMetrics';
import { type TtlMetrics, ttlMetrics } from '#deletion/ttlMetrics';
import type { Ledger } from './ledger.ts';

export interface FinishableMetrics extends TtlMetrics {
  /** Objects deleted at their deadline, and not by us. */
  readonly rival: Counter;
  /** Around every deletion of a Job: how much of the room for requests is in use. */
  readonly inUse: { enter(): void; leave(): void };
}

export interface MetricsOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly controller: string;
  readonly kind: string;
  readonly concurrency: number;
}

export function finishableMetrics(options: MetricsOptions): FinishableMetrics {
  const { registry, clock, ledger, controller, kind, concurrency } = options;
  const metrics = ttlMetrics({
    registry,
    controller,
    kind,
    now: () => clock.now(),
    count: () => ledger.count(clock.now()),
    skips: kind === 'Pod' ? [...SKIPS, ...POD_SKIPS] : SKIPS,
    ...(kind === 'Job' ? { lag: jobLags(registry) } : {}),
  });
  return {
    ...metrics,
    rival: registry
      .counter('lapse_ttl_rival_deletions_total', 'Objects deleted at their deadline by somebody else.', [
        'kind',
      ])
      .with(kind),
    inUse: kind === 'Job' ? useOf(registry, concurrency) : NOT_MEASURED,
  };
}

/** The KEP's gauge has no label for a kind, and two kinds would overwrite each other. */
function useOf(registry: Registry, concurrency: number): FinishableMetrics['inUse'] {
  const use = registry
    .gauge(
      'ttl_after_finished_controller_rate_limiter_use',
      'Share of the deletions of Jobs that may be under way at once.',
    )
    .with();
  let deleting = 0;
  const change = (by: number) => {
    deleting += by;
    use.set(deleting / concurrency);
  };
  return { enter: () => change(1), leave: () => change(-1) };
}
const NOT_MEASURED: FinishableMetrics['inUse'] = { enter: () => {}, leave: () => {} };

const SKIPS = ['invalid TTL', 'finish time unknown', 'finish in the future'];
const POD_SKIPS = ['owned by a Job', 'restart policy Always'];

const jobLags = (registry: Registry): Histogram[] =>
  [
    'ttl_after_finished_controller_time_to_deletion_seconds',
    'ttl_after_finished_controller_job_deletion_duration_seconds',
  ].map((name) =>
    registry
      .histogram(name, 'From the end of the TTL of a Job to its accepted deletion.', [], LAG_SECONDS)
      .with(),
  );
