// The metrics of the runtime, with the names of controller-runtime and client-go so that existing dashboards work. All
// are exported from the start.

import type { Exchange } from '@lapse/kube/client/deadline';
import type { CacheStatus, Caches } from '../caches.ts';
import type { Queue, QueueObserver } from '../queue.ts';
import type { Timers } from '../timers.ts';
import type { Counter, Gauge, Histogram, Registry } from './registry.ts';

// The buckets of controller-runtime and client-go.
const PASS_SECONDS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5,
  1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
const QUEUE_SECONDS = Array.from({ length: 12 }, (_, i) => Number(`1e${i - 8}`));

export interface ControllerMetrics {
  readonly results: {
    readonly success: Counter;
    readonly error: Counter;
    readonly requeue: Counter;
    readonly requeueAfter: Counter;
  };
  readonly terminal: Counter;
  readonly forbidden: Counter;
  readonly seconds: Histogram;
  readonly active: Gauge;
  readonly behind: Counter;
}

export function controllerMetrics(
  registry: Registry,
  controller: string,
  concurrency: number,
): ControllerMetrics {
  const labels = ['controller'];
  const total = registry.counter('controller_runtime_reconcile_total', 'Reconciles by result.', [
    'controller',
    'result',
  ]);
  registry
    .gauge('controller_runtime_max_concurrent_reconciles', 'Maximum number of concurrent reconciles.', labels)
    .with(controller)
    .set(concurrency);
  return {
    results: {
      success: total.with(controller, 'success'),
      error: total.with(controller, 'error'),
      requeue: total.with(controller, 'requeue'),
      requeueAfter: total.with(controller, 'requeue_after'),
    },
    terminal: registry
      .counter(
        'controller_runtime_terminal_reconcile_errors_total',
        'Reconciles with a terminal error.',
        labels,
      )
      .with(controller),
    forbidden: registry
      .counter('lapse_forbidden_total', 'Reconciles that failed with 403.', labels)
      .with(controller),
    seconds: registry
      .histogram('controller_runtime_reconcile_time_seconds', 'Duration of reconciles.', labels, PASS_SECONDS)
      .with(controller),
    active: registry
      .gauge('controller_runtime_active_workers', 'Running reconciles.', labels)
      .with(controller),
    behind: registry
      .counter(
        'lapse_cache_behind_total',
        "Number of times a cache did not show the controller's own write in time.",
        labels,
      )
      .with(controller),
  };
}

/** The metrics of a queue. `watch` adds those that are read at each scrape. */
export function queueMetrics(
  registry: Registry,
  name: string,
): { observer: QueueObserver; watch(queue: Queue): void } {
  const labels = ['name'];
  const adds = registry.counter('workqueue_adds_total', 'Keys added.', labels).with(name);
  const retries = registry
    .counter('workqueue_retries_total', 'Keys added again after a failure.', labels)
    .with(name);
  const waited = registry
    .histogram('workqueue_queue_duration_seconds', 'Time keys wait in the queue.', labels, QUEUE_SECONDS)
    .with(name);
  const worked = registry
    .histogram('workqueue_work_duration_seconds', 'Time keys are processed.', labels, QUEUE_SECONDS)
    .with(name);
  return {
    observer: {
      added: () => adds.inc(),
      retried: () => retries.inc(),
      taken: (time) => waited.observe(time / 1000),
      finished: (time) => worked.observe(time / 1000),
    },
    watch(queue) {
      const gauge = (metric: string, help: string, read: () => number) =>
        registry.gauge(metric, help, labels).collect(() => [[[name], read()]]);
      const running = () => [...queue.running()].map((time) => time / 1000);
      gauge('workqueue_depth', 'Ready keys.', () => queue.ready);
      gauge('workqueue_unfinished_work_seconds', 'Total time of running reconciles.', () =>
        running().reduce((a, b) => a + b, 0),
      );
      gauge('workqueue_longest_running_processor_seconds', 'Duration of the longest running reconcile.', () =>
        Math.max(0, ...running()),
      );
      gauge('lapse_workqueue_waiting', 'Keys with a future deadline.', () => queue.waiting);
    },
  };
}

/** For `createClient({ observe })`: counts every attempt by method and status code. */
export function requestMetrics(registry: Registry): (exchange: Exchange) => void {
  const total = registry.counter('rest_client_requests_total', 'Requests by status code.', [
    'code',
    'method',
  ]);
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) total.with('200', method);
  return ({ status, method }) => total.with(status === undefined ? '<error>' : String(status), method).inc();
}

/** Sizes of the caches and timers, read at each scrape. */
export function cacheMetrics(registry: Registry, caches: Caches, timers: Timers): void {
  const perSource = (
    metric: string,
    help: string,
    read: (cache: { size: number; status: CacheStatus }) => number,
  ) =>
    registry
      .gauge(metric, help, ['source'])
      .collect(() => [...caches.statuses()].map((cache) => [[cache.source], read(cache)] as const));
  perSource('lapse_cache_objects', 'Objects in a cache.', ({ size }) => size);
  perSource('lapse_cache_synced', '1 when a cache has all that existed when it began.', ({ status }) =>
    status.synced ? 1 : 0,
  );
  perSource('lapse_cache_problem', '1 while a cache cannot list or watch.', ({ status }) =>
    status.problem === undefined ? 0 : 1,
  );
  registry.gauge('lapse_timers_pending', 'Pending deadlines.').collect(() => [[[], timers.pending]]);
}
