// What all passes of the controller share.

import type { Instant, Millis } from '@lapse/base/instant';
import type { Client } from '@lapse/kube/client/client';
import type { Budget } from '#deletion/budget';
import type { GuardedDeletes } from '#deletion/guardedDelete';
import type { SkewGuard } from '#deletion/skewGuard';
import type { Actors } from './actor.ts';
import type { Interests } from './interests.ts';
import type { CleanerMetrics } from './metrics.ts';
import type { RecordSeal } from './recordSeal.ts';

export interface CleanerOptions {
  /** Conditions may see the data of Secrets. */
  readonly bindSecretData: boolean;
  /** The longest sleep after a search for the time; unset: no limit. */
  readonly maxSleep?: Millis;
  /** Whether pre-delete and post-delete hooks are run. They create what the release record says. */
  readonly helmHooks: 'run' | 'skip';
  readonly helmHookTimeout: Millis;
  /** The records of a release are purged even if objects of it are left. */
  readonly helmPurgeIncomplete: boolean;
}

/** What the last look came to. It holds until then as long as nothing that was looked at changes. */
export interface Memo {
  /** Of the Cleaner. */
  readonly uid: string;
  readonly key: string;
  readonly next: Instant;
  /** From when it was made. A longer one means that the clock was put back, and it holds no more. */
  readonly wait: Millis;
  readonly why: string;
}

/** Something a person has to put right: until then nothing is tried again, unless the spec changes. */
export interface Hold {
  readonly uid: string;
  readonly generation: number;
  readonly until: Instant;
  /** Like a memo's. */
  readonly wait: Millis;
  readonly why: string;
}

export interface Done {
  /** Of the decision. */
  readonly evaluatedAt: string;
  /** What need not be asked for again. */
  readonly uids: Set<string>;
  /** People know that the release is uninstalled. */
  told: boolean;
}

export interface Context {
  readonly guard: SkewGuard;
  readonly deletes: GuardedDeletes;
  readonly actors: Actors;
  readonly records: RecordSeal;
  /** Ours, for discovery. */
  readonly client: Client;
  readonly interests: Interests;
  /** By key of the Cleaner. Lost with the process, and then everything is looked at once more. */
  readonly memos: Map<string, Memo>;
  /** By key of the Cleaner, like memos. */
  readonly holds: Map<string, Hold>;
  /** Definitions that were there when a group was last found not to be served. */
  readonly definitions: Map<string, { readonly text: string; readonly since: Instant }>;
  /** What this process has done of a decision, by key of the Cleaner. */
  readonly done: Map<string, Done>;
  /** How fast an operator allows us to delete. */
  readonly budget?: Budget;
  readonly metrics: CleanerMetrics;
  readonly options: CleanerOptions;
}
