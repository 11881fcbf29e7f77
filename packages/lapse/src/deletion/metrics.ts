// Metrics about deletions, per controller. All series exist from the start.

import { type Instant, minus, minutes } from '@lapse/base/instant';
import type { Counter, Histogram, Registry } from '@lapse/runtime/metrics/registry';
import type { Deletion } from './deletion.ts';

// The buckets of kube-controller-manager's histogram (0.1 s doubling to 819.2 s), plus three for long outages.
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

/** Due objects without an attempt for this long are no longer counted: another client may have deleted them. */
const STALE = minutes(10);
/** An object that has been terminating for this long counts as due again. */
const STUCK_AFTER = minutes(10);

/** An object whose deadline has passed. */
interface Due {
  /** Time of the first attempt. */
  readonly since: Instant;
  /** Time of the last or the next attempt. */
  at: Instant;
  /** Set once the object is terminating: whether it still exists. */
  isThere?: () => boolean;
}

export interface DeletionMetrics {
  readonly lag: Histogram;
  /** 409 answers. */
  readonly conflicts: Counter;
  /** Objects whose deletion failed with a conflict in twenty reconciles in a row. */
  readonly contended: Counter;
  outcome(kind: Deletion['kind']): void;
  /** The object is due and still exists. `at`: time of the last or the next attempt. */
  due(uid: string, at: Instant): void;
  /** The deletion was accepted but the object still exists. Without `isThere`, the object is no longer tracked. */
  terminating(uid: string, isThere: (() => boolean) | undefined): void;
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
  const due = new DueObjects(now);
  const gauge = (name: string, help: string, value: () => number) =>
    registry.gauge(name, help, labels).collect(() => [[[controller], value()]]);
  gauge(
    'lapse_deletions_due',
    'Objects whose deadline has passed and which are still there.',
    () => due.count().count,
  );
  gauge(
    'lapse_deletions_oldest_due_seconds',
    'Since when the oldest of lapse_deletions_due has been tried.',
    () => due.count().oldest / 1000,
  );
  const counter = (name: string, help: string) => registry.counter(name, help, labels).with(controller);
  return {
    lag: registry
      .histogram(
        'lapse_deletion_lag_seconds',
        'From the deadline to the accepted deletion.',
        labels,
        LAG_SECONDS,
      )
      .with(controller),
    conflicts: counter('lapse_deletion_conflicts_total', 'Deletions refused because the object had changed.'),
    contended: counter(
      'lapse_deletion_contended_total',
      'Objects that changed faster than they could be deleted.',
    ),
    outcome: (kind) => total.with(controller, kind).inc(),
    due: (uid, at) => due.tried(uid, at),
    terminating: (uid, isThere) => due.terminating(uid, isThere),
    done: (uid) => due.delete(uid),
  };
}

class DueObjects {
  readonly #now: () => Instant;
  readonly #byUid = new Map<string, Due>();
  #swept: Instant;

  constructor(now: () => Instant) {
    this.#now = now;
    this.#swept = now();
  }

  tried(uid: string, at: Instant): void {
    const known = this.#byUid.get(uid);
    if (known === undefined) this.#byUid.set(uid, { since: this.#now(), at });
    else known.at = at;
    // Also without scrapes, so that the map does not grow.
    if (minus(this.#now(), this.#swept) > STALE) this.#sweep();
  }

  terminating(uid: string, isThere: (() => boolean) | undefined): void {
    const known = this.#byUid.get(uid);
    if (known === undefined) return;
    if (isThere === undefined) this.#byUid.delete(uid);
    else known.isThere = isThere;
  }

  delete(uid: string): void {
    this.#byUid.delete(uid);
  }

  /** `oldest`: milliseconds since the first attempt at the oldest due object. */
  count(): { readonly count: number; readonly oldest: number } {
    this.#sweep();
    let count = 0;
    let oldest = 0;
    for (const { since, isThere } of this.#byUid.values()) {
      const age = minus(this.#swept, since);
      if (isThere !== undefined && age < STUCK_AFTER) continue;
      count++;
      oldest = Math.max(oldest, age);
    }
    return { count, oldest };
  }

  #sweep(): void {
    this.#swept = this.#now();
    for (const [uid, { at, isThere }] of this.#byUid)
      if (isThere === undefined ? minus(this.#swept, at) > STALE : !isThere()) this.#byUid.delete(uid);
  }
}
