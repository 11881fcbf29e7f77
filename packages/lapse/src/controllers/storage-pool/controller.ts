// The declaration of the controller: watched kinds, the pools they concern, and the rights to write.

import type { Clock } from '@lapse/base/clock';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { ReplicatedStoragePool } from '#api/replicatedStoragePool';
import { FutureTransitions } from './futureTransitions.ts';
import { reconcile, type TimeGuard } from './reconcile.ts';
import { poolFacts, poolIndexes, watches } from './sources.ts';

export interface StoragePoolOptions {
  /** Where the agent Pods run. */
  readonly agentNamespace: string;
  /** Default: the time of a reconcile is trusted. */
  readonly guard?: TimeGuard;
  /** Default: the wall clock is used. */
  readonly clock?: Pick<Clock, 'elapsed'>;
}

export function storagePoolController(options: StoragePoolOptions): ControllerDefinition {
  const { agentNamespace } = options;
  const transitions = new FutureTransitions();
  return defineController<ReplicatedStoragePool>({
    name: 'storage-pool',
    for: ReplicatedStoragePool,
    facts: poolFacts,
    indexes: poolIndexes,
    watches: watches(agentNamespace),
    rights: [{ group: 'storage.deckhouse.io', resource: 'replicatedstoragepools/status', verbs: ['patch'] }],
    reconcile: (ctx) => reconcile(ctx, { ...options, transitions }),
  }) as ControllerDefinition;
}
