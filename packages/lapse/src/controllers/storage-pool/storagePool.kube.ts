// Pools on a real API server: the rules of the CRDs, a grace period in real time, a second writer of the status,
// legacy fields, invalid input without a retry loop. Runs with exactly the rights that the controller declares.

import { realClock } from '@lapse/base/clock';
import { formatTime } from '@lapse/base/instant';
import { systemRandom } from '@lapse/base/random';
import { defineKind, type Kind, keyOf } from '@lapse/kube/api/kind';
import { CustomResourceDefinition, Namespace, Node, Pod } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Client, objectOf } from '@lapse/kube/client/client';
import { realCluster } from '@lapse/kube/client/kube.testkit';
import { rightsOf } from '@lapse/runtime/definition';
import { Manager } from '@lapse/runtime/manager';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LVMVolumeGroup, lvmVolumeGroup } from '#api/lvmVolumeGroup';
import { ReplicatedStoragePool, replicatedStoragePool } from '#api/replicatedStoragePool';
import { storagePoolController } from './controller.ts';
import { CRD_CASES, createLeast, LEAST_SPEC, tryCase } from './crdCases.testkit.ts';
import { AGENTS, agent, lvg, type NodeParts, node, pool } from './pool.testkit.ts';

const cluster = realCluster();
const USER = 'storage-pool';
const controller = storagePoolController({ agentNamespace: AGENTS });
const rbac = (kind: string, namespaced: boolean): Kind =>
  defineKind({
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    kind,
    resource: `${kind.toLowerCase()}s`,
    namespaced,
  });

let manager: Manager;
/** Names of the pools whose status the process patched. */
const patches: string[] = [];

const create = async (...objects: KubeObject[]): Promise<void> => {
  const kinds: Record<string, Kind> = { Node, Pod, LVMVolumeGroup, ReplicatedStoragePool } as never;
  for (const { status, ...object } of objects) {
    const kind = kinds[object.kind]!;
    const key = keyOf(object as KubeObject);
    objectOf(await cluster.client.create(kind, object as KubeObject));
    if (status === undefined) continue;
    const patch = { type: 'merge', patch: { status } } as const;
    objectOf(await cluster.client.patch(kind, key, patch, { subresource: 'status' }));
  }
};
const readiness = (name: string, ready: NodeParts['ready'], since = realClock.now()) => {
  const { status } = node(name, { ready: ready ?? 'True' });
  status!.conditions![1]!.lastTransitionTime = formatTime(since);
  return cluster.client.patch(
    Node,
    { name },
    { type: 'merge', patch: { status } },
    { subresource: 'status' },
  );
};
const rsp = async (name: string) => (await cluster.client.get(ReplicatedStoragePool, { name }))!;
const ready = ({ status }: ReplicatedStoragePool) => status?.conditions?.find(({ type }) => type === 'Ready');
const nodes = ({ status }: ReplicatedStoragePool) =>
  (status?.eligibleNodes ?? []).map(({ nodeName }) => nodeName);
const eventually = (look: () => Promise<void>) => vi.waitFor(look, { timeout: 10_000, interval: 25 });
const agentPod = (name: string, on: string) => {
  const made = agent(name, on);
  return { ...made, spec: { ...made.spec, containers: [{ name: 'agent', image: 'agent' }] } };
};

/** The rights that the chart grants: Pods only in the namespace of the agents. */
async function grant(client: Client): Promise<void> {
  const rules = rightsOf(controller).map(({ group, resource, verbs }) => ({
    apiGroups: [group],
    resources: [resource],
    verbs: [...verbs],
  }));
  const isPods = ({ resources }: { resources: string[] }) => resources[0] === 'pods';
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: USER }];
  const give = async (where: 'ClusterRole' | 'Role', granted: typeof rules) => {
    const metadata = { name: USER, ...(where === 'Role' ? { namespace: AGENTS } : {}) };
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: where, name: USER };
    objectOf(
      await client.create(rbac(where, where === 'Role'), {
        apiVersion,
        kind: where,
        metadata,
        rules: granted,
      }),
    );
    const kind = `${where}Binding`;
    objectOf(
      await client.create(rbac(kind, where === 'Role'), { apiVersion, kind, metadata, roleRef, subjects }),
    );
  };
  await give(
    'ClusterRole',
    rules.filter((rule) => !isPods(rule)),
  );
  await give('Role', rules.filter(isPods));
}

beforeAll(async () => {
  const { client } = cluster;
  for (const { crd } of [replicatedStoragePool, lvmVolumeGroup])
    objectOf(await client.create(CustomResourceDefinition, crd as CustomResourceDefinition));
  objectOf(
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: AGENTS } }),
  );
  await grant(client);
  const limited = await cluster.clientOf({ impersonate: { user: USER } });
  await eventually(async () => {
    await limited.list(LVMVolumeGroup);
    await limited.list(ReplicatedStoragePool);
  });
  manager = new Manager({
    clock: realClock,
    random: systemRandom,
    client: {
      ...limited,
      get discovery() {
        return limited.discovery;
      },
      patch: (kind, key, patch, options) => {
        patches.push(key.name);
        return limited.patch(kind, key, patch, options);
      },
    },
    controllers: [controller],
    enforceRights: true,
  });
  manager.start();
  await eventually(async () => expect(manager.phase).toBe('leading'));
});
afterAll(() => manager?.stop());

describe('the CRDs', () => {
  test.each(CRD_CASES.map((each, i) => ({ ...each, i })))('$rule', async ({ i, ...each }) => {
    const said = await tryCase(cluster.client, each, `case-${i}`);
    if (each.refused === undefined) expect(said).toBe('');
    else expect(said).toContain(each.refused);
  });
  test('defaults', async () => {
    expect(await createLeast(cluster.client)).toEqual(LEAST_SPEC);
  });
});

test('the declared rights are sufficient, and kubectl shows the list', async () => {
  await create(
    node('k1', { zone: 'a', labels: { set: 'first' } }),
    lvg('vg-k1', 'k1'),
    agentPod('agent-k1', 'k1'),
  );
  await create(pool('first', ['vg-k1'], { nodeLabelSelector: { matchLabels: { set: 'first' } } }));
  await eventually(async () => {
    const { status } = await rsp('first');
    expect(status?.eligibleNodes).toEqual([
      {
        nodeName: 'k1',
        zoneName: 'a',
        nodeReady: true,
        unschedulable: false,
        agentReady: true,
        lvmVolumeGroups: [{ name: 'vg-k1', unschedulable: false, ready: true }],
      },
    ]);
  });
  const shown = await cluster.bed.kubectl('get', 'rsp', 'first');
  expect(shown.split('\n')[0]!.trim().split(/\s+/)).toEqual(['NAME', 'TYPE', 'READY', 'PHASE', 'AGE']);
  expect(shown.split('\n')[1]!.trim().split(/\s+/).slice(0, 4)).toEqual(['first', 'LVM', 'True', 'Ready']);
  expect(await cluster.bed.kubectl('get', 'lvg', 'vg-k1')).toMatch(/vg-k1\s+k1\s+True/);
});

test('a grace period of two seconds ends after two seconds', async () => {
  await create(node('g1', { labels: { set: 'grace' } }), lvg('vg-g1', 'g1'));
  await create(
    pool('grace', ['vg-g1'], { grace: '2s', nodeLabelSelector: { matchLabels: { set: 'grace' } } }),
  );
  await eventually(async () => expect(nodes(await rsp('grace'))).toEqual(['g1']));
  // Kubernetes keeps whole seconds: the transition is at the one that has begun.
  const since = Math.floor(realClock.now() / 1000) * 1000;
  await readiness('g1', 'False');
  await eventually(async () => expect((await rsp('grace')).status!.eligibleNodes![0]!.nodeReady).toBe(false));
  let last = realClock.now();
  await vi.waitFor(
    async () => {
      const listed = nodes(await rsp('grace')).length > 0;
      if (listed) last = realClock.now();
      expect(listed).toBe(false);
    },
    { timeout: 10_000, interval: 5 },
  );
  const gone = realClock.now();
  expect(gone - since).toBeGreaterThanOrEqual(2000);
  expect(last - since).toBeLessThan(3000);
  expect((await rsp('grace')).status!.eligibleNodesRevision).toBe(3);
});

test('with a second writer of the status no change is lost, and the list is correct', async () => {
  await create(node('s1', { labels: { set: 'shared' } }), lvg('vg-s1', 's1'));
  await create(pool('shared', ['vg-s1'], { nodeLabelSelector: { matchLabels: { set: 'shared' } } }));
  await eventually(async () => expect(nodes(await rsp('shared'))).toEqual(['s1']));
  const names: string[] = [];
  let writing = true;
  const second = (async () => {
    for (let i = 0; writing; i++) {
      names.push(`class-${String(i).padStart(4, '0')}`);
      const patch = { status: { usedBy: { replicatedStorageClassNames: names.slice(-50) } } };
      objectOf(
        await cluster.client.patch(
          ReplicatedStoragePool,
          { name: 'shared' },
          { type: 'merge', patch },
          { subresource: 'status' },
        ),
      );
    }
  })();
  for (let i = 0; i < 15; i++) await readiness('s1', i % 2 === 0 ? 'False' : 'True');
  await readiness('s1', 'Unknown');
  writing = false;
  await second;
  await eventually(async () => {
    const { status } = await rsp('shared');
    expect(status!.eligibleNodes![0]!.nodeReady).toBe(false);
    expect(status!.usedBy!.replicatedStorageClassNames).toEqual(names.slice(-50));
  });
});

test('a legacy reason is cleared once, and the phase is replaced', async () => {
  await create(node('l1', { labels: { set: 'legacy' } }), lvg('vg-l1', 'l1'));
  const selected = { nodeLabelSelector: { matchLabels: { set: 'legacy' } } };
  const [before] = [patches.length];
  await create(pool('legacy', ['vg-l1'], selected));
  await eventually(async () => expect(nodes(await rsp('legacy'))).toEqual(['l1']));
  const patch = { status: { phase: 'Completed', reason: 'old' } };
  await cluster.client.patch(
    ReplicatedStoragePool,
    { name: 'legacy' },
    { type: 'merge', patch },
    { subresource: 'status' },
  );
  await readiness('l1', 'False');
  await eventually(async () => {
    const { status } = await rsp('legacy');
    expect([status!.phase, status!.reason, status!.eligibleNodes![0]!.nodeReady]).toEqual([
      'Ready',
      undefined,
      false,
    ]);
  });
  await readiness('l1', 'True');
  await eventually(async () => expect((await rsp('legacy')).status!.eligibleNodes![0]!.nodeReady).toBe(true));
  // Expected writes: the first list; legacy fields and the change; the change back. Conflicts may add some.
  const written = patches.slice(before).filter((name) => name === 'legacy');
  expect(written.length).toBeGreaterThanOrEqual(4);
  expect((await rsp('legacy')).status!.eligibleNodesRevision).toBe(3);
});

test('invalid input is reported once, and no request is repeated', async () => {
  const wrong = {
    'wrong-lvg': pool('wrong-lvg', ['nowhere']),
    'wrong-selector': pool('wrong-selector', ['vg-k1'], {
      nodeLabelSelector: { matchLabels: { 'a b': 'c' } },
    }),
    'wrong-zone': pool('wrong-zone', ['vg-k1'], { zones: ['a b'] }),
  };
  await create(...Object.values(wrong));
  await eventually(async () => {
    expect(ready(await rsp('wrong-lvg'))?.reason).toBe('LVMVolumeGroupNotFound');
    expect(ready(await rsp('wrong-selector'))?.reason).toBe('InvalidNodeLabelSelector');
    expect(ready(await rsp('wrong-zone'))?.message).toContain('Invalid Zones: ');
  });
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const asked = patches.filter((name) => Object.hasOwn(wrong, name));
  expect(asked.sort()).toEqual(Object.keys(wrong).sort());
});

test('1,001 nodes lead to a condition instead of a status that the API server rejects', async () => {
  const names = Array.from({ length: 1001 }, (_, i) => `many-${i}`);
  await Promise.all(
    names.map((name) => cluster.client.create(Node, node(name, { labels: { set: 'many' } }))),
  );
  await create(pool('many', ['vg-k1'], { nodeLabelSelector: { matchLabels: { set: 'many' } } }));
  await eventually(async () => expect(ready(await rsp('many'))?.reason).toBe('TooManyEligibleNodes'));
  await cluster.client.delete(Node, { name: names[0]! });
  await eventually(async () => expect(nodes(await rsp('many'))).toHaveLength(1000));
});
