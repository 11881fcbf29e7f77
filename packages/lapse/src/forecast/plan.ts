// The plan: what will be deleted and when, what is held, and how much lies beyond its horizon. Text, JSON and page
// show this value.

import type { Instant } from '@lapse/base/instant';
import type { ObjectName, StatementReason } from '#controllers/forecaster';

export type { ObjectName };

/** An object that the garbage collector deletes too. */
export interface Dependent {
  readonly object: ObjectName;
  /** Steps below the deleted object. */
  readonly depth: number;
  /**
   * Its owners are deleted at the same time, with different propagation policies: the order decides whether it is
   * kept.
   */
  readonly uncertain?: boolean;
}

export interface PlannedDeletion {
  /** In the past: overdue. */
  readonly at: Instant;
  readonly object: ObjectName;
  /** The name in `--controllers`. */
  readonly family: string;
  /** `spec.ttlSecondsAfterFinished`, `TTLPolicy ci/tekton`, `Cleaner ns/x`. */
  readonly rule: string;
  /** One sentence. */
  readonly because: string;
  readonly propagation: 'Background' | 'Foreground' | 'Orphan';
  /** At most 1,000 are named. */
  readonly dependents: readonly Dependent[];
  /** How many more there are. */
  readonly moreDependents: number;
  /** It follows an object whose deletion depends on the order. */
  readonly uncertain?: boolean;
}

/** It would be deleted, but something holds it. */
export interface Held {
  readonly object: ObjectName;
  readonly family: string;
  readonly rule: string;
  readonly because: string;
  readonly reason?: StatementReason;
  readonly until?: Instant;
}

/** Whether `until` of a held object is its deadline, which is only not enforced. */
export const hasDeadline = (reason: StatementReason | undefined): boolean =>
  reason === 'DryRun' || reason === 'Paused';

/** It is kept, and its state changes at a known time. */
export interface Change {
  readonly at: Instant;
  readonly object: ObjectName;
  readonly family: string;
  readonly rule: string;
  readonly because: string;
}

export interface Plan {
  readonly made: Instant;
  readonly until: Instant;
  readonly cluster: string;
  /** Set if only this namespace was read. */
  readonly view?: { readonly namespace: string; readonly exists: boolean };
  readonly deletions: readonly PlannedDeletion[];
  readonly held: readonly Held[];
  /** Number of deletions beyond `until`. */
  readonly more: number;
  /** Objects whose state changes through time alone. */
  readonly changes?: readonly Change[];
  /** What could not be read, as messages. The plan does not cover it. */
  readonly unread?: readonly string[];
}
