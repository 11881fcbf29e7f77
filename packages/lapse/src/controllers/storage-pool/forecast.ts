// The forecast for pools. Pools are never deleted, but nodes leave the list of a pool when their grace period ends.

import { assertNever } from '@lapse/base/assertNever';
import type { Node } from '@lapse/kube/api/kinds/builtin';
import type { KindReader } from '@lapse/runtime/reconcileContext';
import { ReplicatedStoragePool } from '#api/replicatedStoragePool';
import { type Forecaster, isServed, nameOf, readSources, type Statement } from '../forecaster.ts';
import { isNodeReadyOrWithinGrace } from './decide.ts';
import { getLVGsByRSP, getSortedNodes } from './gather.ts';
import { NODES, VOLUME_GROUPS } from './sources.ts';
import { type Validation, validateRSPAndLVGs } from './validate.ts';

type Valid = Extract<Validation, { kind: 'valid' }>;

const RULE = 'spec.eligibleNodesPolicy.notReadyGracePeriod';

export const forecastPools: Forecaster = {
  async *forecast({ snapshot, now, namespace }) {
    // An installation for a single namespace cannot read pools.
    if (namespace !== undefined || !isServed(snapshot, ReplicatedStoragePool)) return;
    let groups: KindReader | undefined;
    let nodes: KindReader | undefined;
    for await (const page of snapshot.each({ kind: ReplicatedStoragePool }))
      for (const pool of page) {
        groups ??= await readSources(snapshot, [VOLUME_GROUPS]);
        const validation = validateRSPAndLVGs(pool, getLVGsByRSP({ cache: groups }, pool));
        if (validation.kind === 'invalid') {
          const object = nameOf(ReplicatedStoragePool, pool);
          yield { kind: 'held', object, rule: RULE, because: validation.message };
          continue;
        }
        nodes ??= await readSources(snapshot, [NODES]);
        for (const node of getSortedNodes({ cache: nodes }, pool, validation.nodeSelector))
          yield statementOn(pool, node, validation, now);
      }
  },
};

function statementOn(
  pool: ReplicatedStoragePool,
  node: Node,
  { gracePeriod }: Valid,
  now: Parameters<typeof isNodeReadyOrWithinGrace>[2],
): Statement {
  const about = { object: nameOf(ReplicatedStoragePool, pool), rule: RULE };
  const { name } = node.metadata;
  const state = isNodeReadyOrWithinGrace(node, gracePeriod, now);
  switch (state.kind) {
    case 'ready':
      return { kind: 'kept', ...about, because: `node ${name} is Ready and listed` };
    case 'expired':
      return { kind: 'kept', ...about, because: `node ${name} is not Ready, and its grace period is over` };
    case 'withinGrace':
      return {
        kind: 'changes',
        ...about,
        at: state.until,
        because: `node ${name} is not Ready and leaves the list when its grace period is over`,
      };
    default:
      return assertNever(state);
  }
}
