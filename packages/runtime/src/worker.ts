// Runs the reconcile loop of a controller; start reading the runtime here. A worker takes a key, reconciles it with one
// fixed `now`, and applies the outcome to the queue, the metrics and the log (`settle`).

import { assertNever } from '@lapse/base/assertNever';
import type { Clock } from '@lapse/base/clock';
import { type Instant, isDue, type Millis, millis } from '@lapse/base/instant';
import type { Log } from '@lapse/base/log';
import { yieldEvery } from '@lapse/base/turn';
import type { DecisionTime } from './decisionTime.ts';
import type { ControllerMetrics } from './metrics/runtimeMetrics.ts';
import { asError, failed, type Outcome } from './outcome.ts';
import type { Queue, Taken } from './queue.ts';

/** One finished reconcile. */
export interface ReconcileRecord {
  readonly key: string;
  readonly reason: string;
  readonly now: Instant;
  readonly outcome: Outcome;
  readonly took: Millis;
}

export interface WorkerOptions {
  readonly queue: Queue;
  readonly concurrency: number;
  readonly clock: Clock;
  readonly time: DecisionTime;
  readonly metrics: ControllerMetrics;
  readonly log: Log;
  /** Until when the key must wait because its cache is behind its own writes; undefined if it need not wait. */
  readonly behindUntil: (taken: Taken) => Instant | undefined;
  readonly keyOf: (taken: Taken) => string;
  /** The reconcile function; may throw. */
  readonly reconcile: (taken: Taken, now: Instant) => Promise<Outcome> | Outcome;
  /** Called for a failed or terminal outcome, to emit an Event. */
  readonly report: (taken: Taken, outcome: Outcome) => void;
  readonly onReconcile?: (record: ReconcileRecord) => void;
}

// Yields to the event loop after this many reconciles, because those without a request finish within one turn.
const YIELD_AFTER = 16;

export class Worker {
  readonly #options: WorkerOptions;
  readonly #yieldIfDue = yieldEvery(YIELD_AFTER);
  #running = false;
  #woken = false;
  #busy = 0;
  #onIdle: (() => void)[] = [];

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  /** Number of running reconciles. */
  get busy(): number {
    return this.#busy;
  }
  get running(): boolean {
    return this.#running;
  }

  start(): void {
    this.#running = true;
    this.wake();
  }

  /** Takes no more keys. Resolves when the running reconciles have ended. */
  stop(): Promise<void> {
    this.#running = false;
    return this.#busy === 0 ? Promise.resolve() : new Promise((resolve) => this.#onIdle.push(resolve));
  }

  /** Notifies the worker that a key may be ready. Reconciles never start synchronously inside this call. */
  wake(): void {
    if (this.#woken) return;
    this.#woken = true;
    queueMicrotask(() => {
      this.#woken = false;
      this.#pump();
    });
  }

  /** Starts reconciles until the queue is empty or all workers are busy. */
  #pump(): void {
    const { queue, concurrency } = this.#options;
    while (this.#running && this.#busy < concurrency) {
      const taken = queue.take();
      if (taken === undefined) return;
      this.#busy++;
      this.#work(taken).then(
        () => this.#finished(),
        (error: unknown) => this.#crashed(error),
      );
    }
  }

  async #work(taken: Taken): Promise<void> {
    const { queue, behindUntil } = this.#options;
    try {
      const until = behindUntil(taken);
      if (until !== undefined) queue.addAt(taken.id, until, 'cache behind own write');
      else await this.#ctx(taken);
      const turn = this.#yieldIfDue();
      if (turn !== undefined) await turn;
    } finally {
      queue.done(taken.id);
    }
  }

  async #ctx(taken: Taken): Promise<void> {
    const { clock, time, metrics, keyOf, onReconcile } = this.#options;
    const key = keyOf(taken);
    const start = clock.elapsed();
    const now = time.now();
    metrics.active.add(1);
    const outcome = await this.#attempt(taken, now);
    metrics.active.add(-1);
    const took = millis(clock.elapsed() - start);
    metrics.seconds.observe(took / 1000);
    settle(outcome, { ...this.#options, taken, key, now });
    onReconcile?.({ key, reason: taken.reason, now, outcome, took });
  }

  /** Turns an exception into a failed outcome, so that it affects only its own key. */
  async #attempt(taken: Taken, now: Instant): Promise<Outcome> {
    try {
      return await this.#options.reconcile(taken, now);
    } catch (thrown) {
      return failed(thrown);
    }
  }

  #finished(): void {
    this.#busy--;
    this.#pump();
    if (this.#busy > 0) return;
    const waiting = this.#onIdle;
    this.#onIdle = [];
    for (const resolve of waiting) resolve();
  }

  #crashed(error: unknown): void {
    this.#options.log.error({ error: asError(error) }, 'the outcome of a reconcile could not be applied');
    this.#finished();
  }
}

export interface Settling extends Pick<WorkerOptions, 'queue' | 'time' | 'metrics' | 'log' | 'report'> {
  readonly taken: Taken;
  readonly key: string;
  readonly now: Instant;
}

/** Applies an outcome to the queue, the metrics and the log. Must be called before `queue.done`. */
export function settle(outcome: Outcome, settling: Settling): void {
  const { queue, time, metrics, log, report, taken, key, now } = settling;
  const { id, reason } = taken;
  switch (outcome.kind) {
    case 'settled':
      queue.forget(id);
      metrics.results.success.inc();
      log.debug({ key, reason }, 'settled');
      return;
    case 'waitUntil':
      if (!Number.isFinite(outcome.at)) {
        settle(
          failed(new Error(`reconcile returned an invalid deadline ${outcome.at} (${outcome.why})`)),
          settling,
        );
        return;
      }
      // The deadline was already due at the decision. Retries with a delay, to avoid a hot loop.
      if (isDue(outcome.at, now)) queue.addContended(id, `deadline: ${outcome.why}`);
      else {
        queue.forget(id);
        queue.addAt(id, time.localOf(outcome.at), `deadline: ${outcome.why}`);
      }
      metrics.results.requeueAfter.inc();
      log.debug({ key, reason, until: outcome.at, why: outcome.why }, 'waiting');
      return;
    case 'again':
      queue.addContended(id, `again: ${outcome.why}`);
      metrics.results.requeue.inc();
      log.debug({ key, reason, why: outcome.why, losses: taken.losses + 1 }, 'lost a race');
      return;
    case 'failed':
      queue.addFailed(id, outcome.cause, 'retry');
      metrics.results.error.inc();
      log.warn({ key, reason, error: outcome.cause, failures: taken.failures + 1 }, 'failed');
      report(taken, outcome);
      return;
    case 'terminal':
      queue.forget(id);
      metrics.results.error.inc();
      metrics.terminal.inc();
      log.warn(
        { key, reason, because: outcome.reason, note: outcome.message },
        'terminal error; not retried until a watched object changes',
      );
      report(taken, outcome);
      return;
    default:
      assertNever(outcome);
  }
}
