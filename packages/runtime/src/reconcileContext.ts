// The context of one reconcile of one key: a fixed `now`, the caches, and a client that records its writes.

import type { Instant } from '@lapse/base/instant';
import type { Log } from '@lapse/base/log';
import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import type { CacheReader } from './cache.ts';
import type { CacheStatus } from './caches.ts';
import type { EventNote, RegardingObject } from './events/types.ts';
import type { Registry } from './metrics/registry.ts';
import type { Source } from './source.ts';

/** The caches of a controller, by kind. */
export interface KindReader {
  /** False: the initial list never completed, so an object missing from the cache may exist. Only for optional watches. */
  isSynced(kind: Kind): boolean;
  get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey): T | undefined;
  list<T extends KubeObject>(kind: Kind<T>): Iterable<T>;
  byIndex<T extends KubeObject>(kind: Kind<T>, index: string, value: string): T[];
}

/** A source declared at run time. Until it is synced, an object missing from its cache may exist. */
export interface DynamicView<T extends KubeObject = KubeObject> {
  readonly source: Source<T>;
  readonly reader: CacheReader<T>;
  readonly status: CacheStatus;
}

export interface DynamicSources {
  /**
   * Declares the sources that this key needs from now on. Missing sources are started, all others are released. The key
   * is reconciled again when one of them is synced, fails, or changes (through `DynamicDefinition.to`).
   */
  declare(sources: readonly Source[]): readonly DynamicView[];
}

export interface ReconcileContext {
  /** The only time a decision may use. It is behind the local clock if the API server's clock is. */
  readonly now: Instant;
  /** Since when this process acts without interruption. Another replica may have made earlier changes. */
  readonly actingSince: Instant;
  readonly key: ObjectKey;
  /** Why the key was enqueued: for traces and explanations, never for decisions. */
  readonly reason: string;
  /** Consecutive failures and conflicts before this reconcile. */
  readonly failures: number;
  readonly losses: number;
  readonly cache: KindReader;
  readonly client: Client;
  readonly dynamic: DynamicSources;
  /** Emits an Event on an object; never blocks, never fails. */
  event(regarding: RegardingObject, event: EventNote): void;
  readonly log: Log;
  readonly metrics: Registry;
  /** Nothing is persisted: all writes use dryRun. */
  readonly dryRun: boolean;
  /** Aborted when the process must exit. `client` applies it to all its requests. */
  readonly signal: AbortSignal;
}
