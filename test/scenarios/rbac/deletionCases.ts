// The cases of the families that delete Jobs, Pods and the targets of policies and Cleaners, and of storage pools.

import { formatTime, minutes, seconds } from '@lapse/base/instant';
import { VIRTUAL_START } from '@lapse/base/virtualClock';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ReplicatedStoragePool } from 'lapse/api/replicatedStoragePool';
import { lvg, node, pool } from 'lapse/controllers/storage-pool/pool.testkit';
import { expect } from 'vitest';
import { cleaner, configMap, KNATIVE, target } from '../cleaner/kit.ts';
import { finishedJob } from '../kit.ts';
import { NAMESPACE } from './installation.ts';
import { conditionOf, expectGone, loseRace, namespaceOf, type RightsCase } from './rightsCase.ts';
import type { World } from './world.ts';

const finishedPod = (name: string): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', annotations: { 'lapse.dev/ttl-seconds-after-finished': '10' } },
    spec: { restartPolicy: 'Never', nodeName: 'n', containers: [{ name: 'main', image: 'busybox' }] },
    status: {
      phase: 'Succeeded',
      conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: formatTime(VIRTUAL_START) }],
    },
  }) as KubeObject;

export const ttlAfterFinished: RightsCase = {
  simulatedControllers: ['owner-gc'],
  async run(world) {
    await world.start();
    await world.apply([finishedJob('report', { ttl: seconds(10) }), finishedPod('once')]);
    loseRace(world, 'delete jobs', 'job/report');
    loseRace(world, 'delete pods', 'pod/once');
    await world.timePasses(seconds(30));
    await expectGone(world, 'job/report', 'pod/once');
  },
};

const MAPS = { apiVersion: 'v1', kind: 'ConfigMap' };
const REVISIONS = { apiVersion: 'serving.knative.dev/v1', kind: 'Revision' };
const policy = (kind: string, name: string, spec: object): KubeObject =>
  ({
    apiVersion: 'lapse.dev/v1alpha1',
    kind,
    metadata: { name, ...(kind === 'TTLPolicy' ? { namespace: 'default' } : {}) },
    spec: { ttl: '1m', from: 'Created', mode: 'Enforce', ...spec },
  }) as KubeObject;

/** Saved objects are removed within the time of a case. */
const SAVED_BRIEFLY = { trash: { keep: '10s' } };

/** Something was saved, and all of it is removed again. */
async function expectTrashEmpty(world: World): Promise<void> {
  const chunks = world.requests.flatMap(({ verb, resource, body }) => {
    const text = verb === 'create' && resource === 'secrets' ? Buffer.from(body ?? []).toString() : '';
    return /"name":"(lapse-trash-[^"]+)"/.exec(text)?.[1] ?? [];
  });
  expect(chunks).not.toEqual([]);
  await expectGone(world, ...chunks.map((name) => `${NAMESPACE}/secret/${name}`));
}

export const ttlPolicy: RightsCase = {
  granted: ['configmaps', 'revisions.serving.knative.dev'],
  configuration: SAVED_BRIEFLY,
  async run(world) {
    await world.start();
    const selector = { matchLabels: { team: 'a' } };
    await world.apply([
      namespaceOf('team-b'),
      configMap('local', { of: 'local' }),
      configMap('everywhere', { of: 'everywhere' }),
      { ...MAPS, metadata: { name: 'other', namespace: 'team-b', labels: { of: 'everywhere' } } },
      policy('TTLPolicy', 'local', { target: MAPS, selector: { matchLabels: { of: 'local' } } }),
      policy('ClusterTTLPolicy', 'everywhere', {
        target: MAPS,
        selector: { matchLabels: { of: 'everywhere' } },
        namespaceSelector: selector,
      }),
      policy('TTLPolicy', 'of-a-kind-to-come', { target: REVISIONS }),
    ]);
    await world.userClient.patch('namespace/default', { metadata: { labels: { team: 'a' } } });
    await world.timePasses(minutes(2));
    await expectGone(world, 'configmap/local', 'configmap/everywhere');
    await expectTrashEmpty(world);
    expect(await world.userClient.get('team-b/configmap/other')).toBeDefined();
    expect(await conditionOf(world, 'ttlpolicy/of-a-kind-to-come')).toBe('False KindNotServed');
    expect(await conditionOf(world, 'clusterttlpolicy/everywhere')).toMatch(/^True/);
    await world.apply(KNATIVE.map(({ crd }) => crd as KubeObject));
    await world.timePasses(seconds(5));
    expect(await conditionOf(world, 'ttlpolicy/of-a-kind-to-come')).toMatch(/^True/);
  },
};

/** An account that may delete the ConfigMaps of its namespace. */
const BROOM = `
apiVersion: v1
kind: ServiceAccount
metadata: { name: broom, namespace: default }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: broom, namespace: default }
rules:
  - { apiGroups: [""], resources: [configmaps], verbs: [get, list, watch, delete] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: broom, namespace: default }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: broom }
subjects: [{ kind: ServiceAccount, name: broom, namespace: default }]
`;

export const cleaners: RightsCase = {
  granted: ['configmaps', 'revisions.serving.knative.dev'],
  configuration: SAVED_BRIEFLY,
  async run(world) {
    await world.start();
    await world.apply(BROOM);
    const named = (name: string) => ({ name });
    const deleted = (name: string) => [target(name, name, { delete: true, include: true })];
    const revision = { apiGroup: 'serving.knative.dev', kind: 'revision', name: 'r' };
    await world.apply([
      configMap('mine'),
      configMap('dust'),
      cleaner({ ttl: '10s', targets: deleted('mine') }, named('of-its-author')),
      cleaner({ ttl: '10s', targets: deleted('dust'), serviceAccountName: 'broom' }, named('of-an-account')),
      cleaner({ ttl: '10s', targets: [target('gone', 'gone', { delete: true })] }, named('of-what-is-gone')),
      cleaner(
        {
          ttl: '0s',
          targets: [{ name: 'r', reference: revision, includeWhenEvaluating: true }],
          conditions: ['r.metadata.name == "r"'],
          retry: { period: '1h' },
        },
        named('of-a-kind-to-come'),
      ),
    ]);
    loseRace(world, 'delete cleaners of-what-is-gone', 'cleaner/of-what-is-gone');
    await world.timePasses(seconds(30));
    await expectGone(world, 'configmap/mine', 'cleaner/of-its-author');
    await expectGone(world, 'configmap/dust', 'cleaner/of-an-account', 'cleaner/of-what-is-gone');
    await world.apply(KNATIVE.map(({ crd }) => crd as KubeObject));
    await world.timePasses(seconds(5));
    const revisionObject = { ...REVISIONS, metadata: { name: 'r', namespace: 'default' }, spec: {} };
    await world.apply(revisionObject as KubeObject);
    await world.timePasses(seconds(30));
    await expectGone(world, 'cleaner/of-a-kind-to-come');
    await world.timePasses(seconds(30));
    await expectTrashEmpty(world);
  },
};

const AGENT = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'agent', namespace: NAMESPACE, labels: { app: 'agent' } },
  spec: { nodeName: 'n1', containers: [{ name: 'agent', image: 'agent' }] },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
} as KubeObject;

export const storagePools: RightsCase = {
  async run(world) {
    await world.start();
    await world.apply([node('n1'), lvg('v1', 'n1'), AGENT, pool('p', ['v1'])]);
    await world.timePasses(seconds(30));
    const { status } = (await world.userClient.get<ReplicatedStoragePool>('replicatedstoragepool/p'))!;
    expect(status?.eligibleNodes).toMatchObject([
      { nodeName: 'n1', nodeReady: true, agentReady: true, lvmVolumeGroups: [{ name: 'v1', ready: true }] },
    ]);
  },
};
