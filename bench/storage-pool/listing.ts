// The peer: a reconcile as in most controllers. It reads the full lists of nodes, volume groups and Pods, filters them,
// compiles the selector, and then decides as Lapse does. Linear in the size of the cluster, not of the pool.

import { instant, minutes } from '@lapse/base/instant';
import type { LVMVolumeGroup } from 'lapse/api/lvmVolumeGroup';
import type { EligibleNode, ReplicatedStoragePool } from 'lapse/api/replicatedStoragePool';
import { computeActualEligibleNodes, isAgentReady } from 'lapse/controllers/storage-pool/decide';
import type { Everything } from 'lapse/controllers/storage-pool/naive.testkit';
import { compileNodeSelector } from 'lapse/controllers/storage-pool/nodeSelector';

export function listingPass(rsp: ReplicatedStoragePool, all: Everything, now: number): EligibleNode[] {
  const wanted = new Set(rsp.spec.lvmVolumeGroups.map(({ name }) => name));
  const lvgs = new Map<string, LVMVolumeGroup>();
  for (const lvg of all.lvgs) if (wanted.has(lvg.metadata.name!)) lvgs.set(lvg.metadata.name!, lvg);
  const selector = compileNodeSelector(rsp.spec);
  if (selector.kind === 'problem') throw new Error(selector.message);
  const nodes = all.nodes
    .filter(({ metadata }) => selector.matches(metadata.labels))
    .sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
  const agentReadyByNode = new Map<string, boolean>();
  for (const pod of all.pods) {
    const name = pod.spec?.nodeName;
    if (name && pod.metadata.namespace === all.agentNamespace && pod.metadata.labels?.app === 'agent')
      agentReadyByNode.set(name, (agentReadyByNode.get(name) ?? false) || isAgentReady(pod));
  }
  const inputs = { rsp, nodes, lvgs, agentReadyByNode, gracePeriod: minutes(10) };
  return computeActualEligibleNodes(inputs, instant(now)).eligibleNodes;
}
