// What a plan is: what will end and when, what would end but is held, and how much lies beyond its horizon. The text, the
// JSON and the page all show this one value.

import type { Instant } from '@lapse/base/instant';
import type { ObjectName } from '#controllers/foresight';

export type { ObjectName };

/** What the garbage collector takes along. */
export interface Taken {
  readonly object: ObjectName;
  /** Steps below the deleted object. */
  readonly depth: number;
  /** Its owners go in the same instant, in ways of which one spares it: chance decides. */
  readonly perhaps?: boolean;
}

export interface PlannedEnd {
  /** In the past: overdue. */
  readonly at: Instant;
  readonly object: ObjectName;
  /** As in `--controllers`. */
  readonly family: string;
  /** `spec.ttlSecondsAfterFinished`, `TTLPolicy ci/tekton`, `Cleaner ns/x`. */
  readonly rule: string;
  /** One sentence. */
  readonly because: string;
  readonly propagation: 'Background' | 'Foreground' | 'Orphan';
  /** At most 1,000 are named. */
  readonly takes: readonly Taken[];
  /** How many more there are. */
  readonly takesMore: number;
  /** It follows something of which the same is said. */
  readonly perhaps?: boolean;
}

/** It would end, but something holds it. */
export interface Held {
  readonly object: ObjectName;
  readonly family: string;
  readonly rule: string;
  readonly because: string;
  readonly until?: Instant;
}

/** It stays, and at a known time something about it changes. */
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
  /** Set: only this namespace was looked at. */
  readonly view?: { readonly namespace: string; readonly exists: boolean };
  readonly ends: readonly PlannedEnd[];
  readonly held: readonly Held[];
  /** Ends beyond `until`. */
  readonly more: number;
  /** Time alone changes what is said about these. */
  readonly changes?: readonly Change[];
  /** What could not be read, in words: the plan does not speak of it. */
  readonly unread?: readonly string[];
}
