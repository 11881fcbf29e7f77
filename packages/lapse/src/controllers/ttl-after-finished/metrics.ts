// Metrics. Jobs use the names of the KEP and of Kubernetes, so that existing dashboards and alerts keep working.

import type { Clock } from '@lapse/base/clock';
import type { Counter, Histogram, Registry } from '@lapse/runtime/metrics/registry';
import { LAG_SECONDS } from '#deletion/metrics';
import { type TtlMetrics, ttlMetrics } from '../ttlMetrics.ts';
import type { ObjectRecords } from './objectRecords.ts';

export interface FinishableMetrics extends TtlMetrics {
  /** Objects that another client deleted at their deadline. */
  readonly competing: Counter;
  /** Call it before and after every deletion of a Job: the share of concurrent deletions in use. */
  readonly inUse: { enter(): void; leave(): void };
}

export interface MetricsOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly records: ObjectRecords;
  readonly controller: string;
  readonly kind: string;
  readonly concurrency: number;
}

export function finishableMetrics(options: MetricsOptions): FinishableMetrics {
  const { registry, clock, records, controller, kind, concurrency } = options;
  const metrics = ttlMetrics({
    registry,
    controller,
    now: () => clock.now(),
    count: () => [[kind, records.count(clock.now())]],
    known:
      kind === 'Job'
        ? { kind, skips: SKIPS, lags: jobLags(registry) }
        : { kind, skips: [...SKIPS, ...POD_SKIPS] },
  });
  return {
    ...metrics,
    competing: registry
      .counter(
        'lapse_ttl_competing_deletions_total',
        'Objects that another client deleted at their deadline.',
        ['kind'],
      )
      .with(kind),
    inUse: kind === 'Job' ? useOf(registry, concurrency) : NOT_MEASURED,
  };
}

/** The gauge of the KEP has no label for the kind, so only Jobs use it. */
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
