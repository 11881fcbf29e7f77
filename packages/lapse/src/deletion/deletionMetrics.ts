// What is counted about deletions, per controller, all of it there from the start.

import { type Instant, minus, minutes } from '@lapse/base/instant';
import type { Counter, Histogram, Registry } from '@lapse/runtime/metrics/registry';
import type { Deletion } from './deletion.ts';

// As kube-controller-manager's own histogram (0.1 s doubling to 819.2 s), and what a long outage needs beyond.
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

/** Due objects that were not tried for this long are no longer counted: others may have deleted them. */
const STALE = minutes(10);
/** An object that is terminating for this long counts as due again. */
const STUCK_AFTER = minutes(10);

/** An object whose deadline has passed. */
interface Due {
  /** First tried. */
  readonly since: Instant;
  /** Tried last, or to be tried next. */
  at: Instant;
  /** Set once it is terminating: whether it is still there. */
  isThere?: () => boolean;
}

export interface DeletionMetrics {
  readonly lag: Histogram;
  /** 409 answers. */
  readonly conflicts: Counter;
  /** Objects that were lost twenty races in a row. */
  readonly contended: Counter;
  outcome(kind: Deletion['kind']): void;
  /** Due, and still there: tried at this instant, or to be tried then. */
  due(uid: string, at: Instant): void;
  /** The deletion was accepted and something keeps the object. Without `isThere` it is not followed any further. */
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
  registry
    .gauge('lapse_deletions_due', 'Objects whose deadline has passed and which are still there.', labels)
    .collect(() => [[[controller], due.count().count]]);
  registry
    .gauge(
      'lapse_deletions_oldest_due_seconds',
      'Since when the oldest of lapse_deletions_due has been tried.',
      labels,
    )
    .collect(() => [[[controller], due.count().oldest / 1000]]);
  return {
    lag: registry
      .histogram(
        'lapse_deletion_lag_seconds',
        'From the deadline to the accepted deletion.',
        labels,
        LAG_SECONDS,
      )
      .with(controller),
    conflicts: registry
      .counter('lapse_deletion_conflicts_total', 'Deletions refused because the object had changed.', labels)
      .with(controller),
    contended: registry
      .counter(
        'lapse_deletion_contended_total',
        'Objects that changed faster than they could be deleted.',
        labels,
      )
      .with(controller),
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
    // Also where no client scrapes.
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

  /** `oldest`: how long ago the oldest was first tried. */
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
