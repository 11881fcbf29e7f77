// State and dependencies that all reconciles of the controller share.

import type { Instant, Millis } from '@lapse/base/instant';
import type { Client } from '@lapse/kube/client/client';
import type { Budget } from '#deletion/budget';
import type { Expirer } from '#deletion/expirer';
import type { SkewGuard } from '#deletion/skewGuard';
import type { Interests } from './interests.ts';
import type { CleanerMetrics, DeletedWhat } from './metrics.ts';
import type { RecordSeal } from './recordSeal.ts';
import type { Actors } from './rights.ts';

export interface CleanerOptions {
  /** Conditions may read the data of Secrets. */
  readonly bindSecretData: boolean;
  /** Longest wait after a search for the time. Undefined: no limit. */
  readonly maxSleep?: Millis;
  /** Whether pre-delete and post-delete hooks are run. Hooks create the objects that the release record contains. */
  readonly helmHooks: 'run' | 'skip';
  readonly helmHookTimeout: Millis;
  /** Purge the records of a release even if objects of it are left. */
  readonly helmPurgeIncomplete: boolean;
}

/** The result of the last evaluation. It is valid until then, provided that none of the objects it read changes. */
export interface Memo {
  /** UID of the Cleaner. */
  readonly uid: string;
  readonly key: string;
  readonly next: Instant;
  /**
   * Duration from its creation. A longer remaining time means that the clock was set back, and the memo is
   * discarded.
   */
  readonly wait: Millis;
  readonly why: string;
}

/**
 * A problem that the user has to fix. The Cleaner is not retried before the time in it, except when the spec
 * changes.
 */
export interface Hold {
  readonly uid: string;
  readonly generation: number;
  readonly until: Instant;
  /** As in `Memo`. */
  readonly wait: Millis;
  readonly why: string;
}

export interface Done {
  /** `evaluatedAt` of the decision. */
  readonly evaluatedAt: string;
  /** UIDs for which no further DELETE is needed. */
  readonly uids: Set<string>;
  /** The Event about the uninstalled release has been emitted. */
  told: boolean;
}

export interface Context {
  readonly guard: SkewGuard;
  readonly expirer: Expirer<DeletedWhat>;
  readonly actors: Actors;
  readonly records: RecordSeal;
  /** Lapse's own client, for discovery. */
  readonly client: Client;
  readonly interests: Interests;
  /** By key of the Cleaner. In memory only: after a restart every Cleaner is evaluated once. */
  readonly memos: Map<string, Memo>;
  /** By key of the Cleaner. In memory only. */
  readonly holds: Map<string, Hold>;
  /** The CRDs that existed when a group was last found not to be served. */
  readonly definitions: Map<string, { readonly text: string; readonly since: Instant }>;
  /** What this process has already done for a decision, by key of the Cleaner. */
  readonly done: Map<string, Done>;
  /** The operator's limit of deletions per second. */
  readonly budget?: Budget;
  readonly metrics: CleanerMetrics;
  readonly options: CleanerOptions;
}
