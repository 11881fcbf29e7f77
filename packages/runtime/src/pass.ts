// One look at one key: one `now`, the caches as they are, a client whose writes are guarded and remembered.

import type { Instant } from '@lapse/base/instant';
import type { Log } from '@lapse/base/log';
import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import type { CacheReader } from './cache.ts';
import type { CacheStatus } from './caches.ts';
import type { EventNote, Regarded } from './events/types.ts';
import type { Registry } from './metrics/registry.ts';
import type { Source } from './source.ts';

/** The caches of a controller, by kind. */
export interface KindReader {
  /** False: the watch has never been complete, and an object may exist that the cache lacks. Only for optional watches. */
  isSynced(kind: Kind): boolean;
  get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey): T | undefined;
  list<T extends KubeObject>(kind: Kind<T>): Iterable<T>;
  byIndex<T extends KubeObject>(kind: Kind<T>, index: string, value: string): T[];
}

/** A source that came into being while the process runs. Until it is synced, what it lacks may exist all the same. */
export interface DynamicView<T extends KubeObject = KubeObject> {
  readonly source: Source<T>;
  readonly reader: CacheReader<T>;
  readonly status: CacheStatus;
}

export interface DynamicSources {
  /**
   * States which sources this key needs from now on: missing ones are started, others are given back. The key is looked
   * at again when one of them is synced, fails, or changes (through `DynamicDefinition.to`).
   */
  declare(sources: readonly Source[]): readonly DynamicView[];
}

export interface Pass {
  /** The only time a decision may use. Behind the local clock when the server's is. */
  readonly now: Instant;
  /** Since when this process has been acting without a break: what happened before may be another replica's work. */
  readonly actingSince: Instant;
  readonly key: ObjectKey;
  /** Why the key woke: for traces and explanations, never for decisions. */
  readonly reason: string;
  /** Failures and lost races in a row before this pass. */
  readonly failures: number;
  readonly losses: number;
  readonly cache: KindReader;
  readonly client: Client;
  readonly dynamic: DynamicSources;
  /** Tells people about an object; never waits, never fails. */
  event(regarding: Regarded, event: EventNote): void;
  readonly log: Log;
  readonly metrics: Registry;
  /** Nothing is written for good: writes carry dryRun. */
  readonly dryRun: boolean;
  /** Aborted when the process must go. Requests of `client` are ended by it without being told. */
  readonly signal: AbortSignal;
}
