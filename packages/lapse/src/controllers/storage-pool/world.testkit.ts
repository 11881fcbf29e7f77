// For tests: a simulated cluster with the pool controller. Nodes, volume groups and agents are created with their
// status.

import { formatTime } from '@lapse/base/instant';
import { type Kind, keyOf } from '@lapse/kube/api/kind';
import { CustomResourceDefinition, Namespace, Node, Pod } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { objectOf } from '@lapse/kube/client/client';
import { type World, type WorldOptions, world } from '@lapse/runtime/world.testkit';
import { LVMVolumeGroup, lvmVolumeGroup } from '#api/lvmVolumeGroup';
import { ReplicatedStoragePool, replicatedStoragePool } from '#api/replicatedStoragePool';
import { storagePoolController } from './controller.ts';
import { AGENTS, type NodeParts, node } from './pool.testkit.ts';

type Known = 'Node' | 'Pod' | 'LVMVolumeGroup' | 'ReplicatedStoragePool';
const KINDS = { Node, Pod, LVMVolumeGroup, ReplicatedStoragePool } as unknown as Record<Known, Kind>;

export interface PoolWorld extends World {
  /** Creates or updates the objects. */
  put(...objects: KubeObject[]): Promise<void>;
  remove(kind: Known, name: string): Promise<void>;
  rsp(name: string): Promise<ReplicatedStoragePool>;
  /** Number of reconciles and of write requests so far. */
  counts(): { reconciles: number; writes: number };
}

const CRDS = [replicatedStoragePool.crd, lvmVolumeGroup.crd];

async function poolWorld(options: WorldOptions, crds: readonly KubeObject[]): Promise<PoolWorld> {
  const controllers = [storagePoolController({ agentNamespace: AGENTS })];
  const made = await world({ controllers, enforceRights: true, ...options });
  for (const crd of crds)
    objectOf(await made.user.create(CustomResourceDefinition, crd as CustomResourceDefinition));
  await made.user.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: AGENTS } });
  await made.settle();
  const put = async (object: KubeObject) => {
    const kind = KINDS[object.kind as Known];
    const key = keyOf(object);
    const { status, ...rest } = withContainers(object);
    const there = await made.user.get(kind, key);
    // A kubelet registers its node including the status. Other kinds get their status in a separate request.
    const first = object.kind === 'Node' ? { ...rest, status } : rest;
    if (there === undefined) objectOf(await made.user.create(kind, first));
    else {
      const metadata = { ...rest.metadata, resourceVersion: there.metadata.resourceVersion! };
      objectOf(await made.user.update(kind, { ...there, ...rest, metadata }));
    }
    if (status === undefined || (there === undefined && object.kind === 'Node')) return;
    const patch = { type: 'merge', patch: { status } } as const;
    objectOf(await made.user.patch(kind, key, patch, { subresource: 'status' }));
  };
  return Object.assign(made, {
    async put(...objects: KubeObject[]) {
      for (const object of objects) await put(object);
      await made.settle();
    },
    async remove(kind: Known, name: string) {
      const namespace = kind === 'Pod' ? { namespace: AGENTS } : {};
      await made.user.delete(KINDS[kind], { name, ...namespace }, { gracePeriodSeconds: 0 });
      await made.settle();
    },
    rsp: async (name: string) => (await made.user.get(ReplicatedStoragePool, { name }))!,
    counts: () => ({ reconciles: made.reconciles.length, writes: made.writes().length }),
  });
}

/** The API server requires containers in a Pod. */
const withContainers = (object: KubeObject): KubeObject =>
  object.kind === 'Pod'
    ? { ...object, spec: { ...(object.spec as object), containers: [{ name: 'agent', image: 'agent' }] } }
    : object;

/** Runs a test in a simulated cluster. The test starts the controller. */
export const inPoolWorld =
  (
    test: (world: PoolWorld) => Promise<void>,
    options: WorldOptions = {},
    crds: readonly KubeObject[] = CRDS,
  ) =>
  async (): Promise<void> => {
    const made = await poolWorld(options, crds);
    try {
      await test(made);
    } finally {
      await made.close();
    }
  };

/** Status, reason and message of the Ready condition. */
export const readyOf = ({ status }: ReplicatedStoragePool) => {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return [ready?.status, ready?.reason, ready?.message];
};
export const nodesOf = ({ status }: ReplicatedStoragePool) =>
  (status?.eligibleNodes ?? []).map(
    ({ nodeName, nodeReady }) => `${nodeName}${nodeReady ? '' : ' (not ready)'}`,
  );
/** A node that stopped being Ready now. */
export const lost = (w: PoolWorld, name: string, parts: NodeParts = {}) => {
  const made = node(name, { ready: 'False', ...parts });
  made.status!.conditions![1]!.lastTransitionTime = formatTime(w.clock.now());
  return made;
};
