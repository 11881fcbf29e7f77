// What all passes of the controller share.

import type { Instant, Millis } from '#base/instant';
import type { Client } from '#client/client';
import type { Budget } from '#lifecycle/budget';
import type { GuardedDeletes } from '#lifecycle/guardedDelete';
import type { SkewGuard } from '#lifecycle/skewGuard';
import type { Actors } from './actor.ts';
import type { Interests } from './interests.ts';
import type { CleanerMetrics } from './metrics.ts';

export interface CleanerOptions {
  /** Conditions may see the data of Secrets. */
  readonly bindSecretData: boolean;
  /** The longest sleep after a search for the time; unset: no limit. */
  readonly maxMonotonicSleep?: Millis;
  /** Objects of a release that are in other namespaces, or in none, may be deleted with it. */
  readonly helmAllowForeign: boolean;
  /** Whether pre-delete and post-delete hooks are run: they create whatever a release says. */
  readonly helmHooks: 'off' | 'run';
  readonly helmHookTimeout: Millis;
}

/** What the last look came to. It holds until then as long as nothing that was looked at changes. */
export interface Memo {
  /** Of the Cleaner. */
  readonly uid: string;
  readonly key: string;
  readonly next: Instant;
  readonly why: string;
}

/** Something a person has to put right: until then nothing is tried again, unless the spec changes. */
export interface Hold {
  readonly uid: string;
  readonly generation: number;
  readonly until: Instant;
  readonly why: string;
}

export interface Context {
  readonly guard: SkewGuard;
  readonly deletes: GuardedDeletes;
  readonly actors: Actors;
  /** Ours, for discovery. */
  readonly client: Client;
  readonly interests: Interests;
  /** By key of the Cleaner. Lost with the process, and then everything is looked at once more. */
  readonly memos: Map<string, Memo>;
  /** By key of the Cleaner, like memos. */
  readonly holds: Map<string, Hold>;
  /** Definitions that were there when a group was last found not to be served. */
  readonly definitions: Map<string, { readonly text: string; readonly since: Instant }>;
  /** What this process has deleted of a decision, by key of the Cleaner: it need not ask for it again. */
  readonly done: Map<string, { readonly evaluatedAt: string; readonly uids: Set<string> }>;
  /** How fast an operator allows us to delete. */
  readonly budget?: Budget;
  readonly metrics: CleanerMetrics;
  readonly options: CleanerOptions;
}
