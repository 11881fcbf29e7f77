// The forecast for pools. Pools are never deleted, but nodes leave the list of a pool when their grace period ends.

import { assertNever } from '@lapse/base/assertNever';
import { Node } from '@lapse/kube/api/kinds/builtin';
import { LVMVolumeGroup } from '#api/lvmVolumeGroup';
import { ReplicatedStoragePool } from '#api/replicatedStoragePool';
import { type Forecaster, isServed, nameOf, type Snapshot, type Statement } from '../forecaster.ts';
import { hasSystemNetworks, isNodeReadyOrWithinGrace } from './decide.ts';
import { lvgProjection, nodeProjection } from './sources.ts';
import { type LVGs, type Validation, validateRSPAndLVGs } from './validate.ts';

type Valid = Extract<Validation, { kind: 'valid' }>;

const RULE = 'spec.eligibleNodesPolicy.notReadyGracePeriod';

export const forecastPools: Forecaster = {
  async *forecast({ snapshot, now, namespace }) {
    // An installation for a single namespace cannot read pools.
    if (namespace !== undefined || !isServed(snapshot, ReplicatedStoragePool)) return;
    for await (const page of snapshot.each({ kind: ReplicatedStoragePool }))
      for (const pool of page) {
        const validation = validateRSPAndLVGs(pool, await readGroups(snapshot));
        if (validation.kind === 'invalid')
          yield {
            kind: 'held',
            object: nameOf(ReplicatedStoragePool, pool),
            rule: RULE,
            because: validation.message,
          };
        else
          for (const node of await selectNodes(snapshot, pool, validation))
            yield statementOn(pool, node, validation, now);
      }
  },
};

async function readGroups(snapshot: Snapshot): Promise<LVGs> {
  if (!isServed(snapshot, LVMVolumeGroup)) return new Map();
  const groups = await snapshot.list({ kind: LVMVolumeGroup, projection: lvgProjection });
  return new Map(groups.map((group) => [group.metadata.name ?? '', group]));
}

async function selectNodes(
  snapshot: Snapshot,
  { spec }: ReplicatedStoragePool,
  { nodeSelector }: Valid,
): Promise<Node[]> {
  const nodes = await snapshot.list({ kind: Node, projection: nodeProjection });
  return nodes.filter(
    (node) =>
      nodeSelector.matches(node.metadata.labels) && hasSystemNetworks(node, spec.systemNetworkNames ?? []),
  );
}

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
      return { kind: 'stays', ...about, because: `node ${name} is Ready and listed` };
    case 'expired':
      return { kind: 'stays', ...about, because: `node ${name} is not Ready, and its grace period is over` };
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
