// State and dependencies that all reconciles of the controller share.

import type { Instant, Millis } from '@lapse/base/instant';
import type { Client } from '@lapse/kube/client/client';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { Cleaner } from '#api/cleaner';
import type { Budget } from '#deletion/budget';
import type { Expirer } from '#deletion/expirer';
import type { SkewGuard } from '#deletion/skewGuard';
import type { LimitRules } from './limit.ts';
import type { CleanerMetrics, DeletedWhat } from './metrics.ts';
import type { Done } from './progress.ts';
import type { RecordSeal } from './record.ts';
import type { Actors } from './rights.ts';
import type { Waits } from './waits.ts';
import type { Interests } from './watches.ts';

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
  readonly limits: LimitRules;
}

export interface Context {
  readonly guard: SkewGuard;
  readonly expirer: Expirer<DeletedWhat>;
  readonly actors: Actors;
  readonly records: RecordSeal;
  /** Lapse's own client, for discovery. */
  readonly client: Client;
  readonly interests: Interests;
  /** Results of evaluations. Each is valid as long as none of the objects it read changes. */
  readonly memos: Waits;
  /** Problems that the user has to fix. They are not retried before their time, except when the spec changes. */
  readonly holds: Waits;
  /** The CRDs that existed when a group was last found not to be served. */
  readonly definitions: Map<string, { readonly text: string; readonly since: Instant }>;
  /** What this process has already done for a decision, by `keyId` of the Cleaner. */
  readonly done: Map<string, Done>;
  /** The operator's limit of deletions per second. */
  readonly budget?: Budget;
  readonly metrics: CleanerMetrics;
  readonly options: CleanerOptions;
}

/** One reconcile of one Cleaner. */
export interface Scope {
  readonly ctx: ReconcileContext;
  readonly context: Context;
  readonly cleaner: Cleaner;
}

export const generationOf = ({ metadata }: Cleaner): number => metadata.generation ?? 1;
