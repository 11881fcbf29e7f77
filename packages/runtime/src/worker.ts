// The page to read first. A worker takes a key, gives it one pass with one `now`, and settles the outcome: what follows
// for the queue, the metrics and the log is decided in one place, the switch below.

import { assertNever } from '@lapse/base/assertNever';
import type { Clock } from '@lapse/base/clock';
import { type Instant, isDue, type Millis, millis } from '@lapse/base/instant';
import type { Log } from '@lapse/base/log';
import { breather } from '@lapse/base/turn';
import type { DecisionTime } from './decisionTime.ts';
import type { ControllerMetrics } from './metrics/runtimeMetrics.ts';
import { asError, failed, type Outcome } from './outcome.ts';
import type { Queue, Taken } from './queue.ts';

/** One pass, after it was settled. */
export interface PassRecord {
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
  /** Until when the key cannot be looked at because its cache is behind; undefined when it can. */
  readonly behindUntil: (taken: Taken) => Instant | undefined;
  readonly keyOf: (taken: Taken) => string;
  /** The pass itself; it may throw. */
  readonly reconcile: (taken: Taken, now: Instant) => Promise<Outcome> | Outcome;
  /** A failure or a terminal outcome is to be shown to people. */
  readonly report: (taken: Taken, outcome: Outcome) => void;
  readonly onPass?: (record: PassRecord) => void;
}

// Passes that need no request finish within one turn; after this many others get theirs.
const BREATH = 16;

export class Worker {
  readonly #options: WorkerOptions;
  readonly #breathe = breather(BREATH);
  #running = false;
  #woken = false;
  #busy = 0;
  #idle: (() => void)[] = [];

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  /** Passes under way. */
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

  /** Takes nothing more; resolves when the passes under way have ended. */
  stop(): Promise<void> {
    this.#running = false;
    return this.#busy === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }

  /** There may be something to take. Passes never start inside the call that woke them. */
  wake(): void {
    if (this.#woken) return;
    this.#woken = true;
    queueMicrotask(() => {
      this.#woken = false;
      this.#pump();
    });
  }

  /** Takes what is ready, as far as there are hands. */
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
      else await this.#pass(taken);
      const breath = this.#breathe();
      if (breath !== undefined) await breath;
    } finally {
      queue.done(taken.id);
    }
  }

  async #pass(taken: Taken): Promise<void> {
    const { clock, time, metrics, keyOf, onPass } = this.#options;
    const key = keyOf(taken);
    const start = clock.elapsed();
    const now = time.now();
    metrics.active.add(1);
    const outcome = await this.#attempt(taken, now);
    metrics.active.add(-1);
    const took = millis(clock.elapsed() - start);
    metrics.seconds.observe(took / 1000);
    settle(outcome, { ...this.#options, taken, key, now });
    onPass?.({ key, reason: taken.reason, now, outcome, took });
  }

  /** Whatever a pass throws concerns its own key only. */
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
    const waiting = this.#idle;
    this.#idle = [];
    for (const resolve of waiting) resolve();
  }

  #crashed(error: unknown): void {
    this.#options.log.error({ error: asError(error) }, 'a pass could not be settled');
    this.#finished();
  }
}

export interface Settling extends Pick<WorkerOptions, 'queue' | 'time' | 'metrics' | 'log' | 'report'> {
  readonly taken: Taken;
  readonly key: string;
  readonly now: Instant;
}

/** What follows from an outcome. The key is still ours; `queue.done` comes after. */
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
        settle(failed(new Error(`a pass wants to wait until ${outcome.at} (${outcome.why})`)), settling);
        return;
      }
      // Due already when it was decided: not a wait, and not a loop either.
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
        'gave up until something changes',
      );
      report(taken, outcome);
      return;
    default:
      assertNever(outcome);
  }
}
