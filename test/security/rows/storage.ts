// Attacks through requests for volumes.

import { PersistentVolumeClaim } from '@lapse/kube/api/kinds/volumes';
import type { KubeObject } from '@lapse/kube/api/object';
import { VolumeCaptureRequest } from 'lapse/api/volumeCaptureRequest';
import { expect, vi } from 'vitest';
import type { Attack, AttackCluster, AttackUser } from '../attack.ts';

const patient = { timeout: 30_000, interval: 100 };
const GROUP = VolumeCaptureRequest.group;
const DRIVER = 'csi.example';
const CAPACITY = { storage: '1Gi' };

const bound = (namespace: string): KubeObject[] => [
  {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `pv-${namespace}` },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: CAPACITY,
      persistentVolumeReclaimPolicy: 'Retain',
      csi: { driver: DRIVER, volumeHandle: namespace },
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: 'data' },
    },
  } as KubeObject,
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace, name: 'data' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: CAPACITY },
      storageClassName: '',
      volumeName: `pv-${namespace}`,
    },
  } as KubeObject,
];

const detach = (namespace: string, name: string, annotations: Record<string, string> = {}) =>
  ({
    apiVersion: `${GROUP}/v1alpha1`,
    kind: 'VolumeCaptureRequest',
    metadata: { namespace, name, annotations },
    spec: { mode: 'Detach', persistentVolumeClaimRef: { name: 'data' } },
  }) as VolumeCaptureRequest;

async function prepare(
  cluster: AttackCluster,
  name: string,
): Promise<{ namespace: string; mallory: AttackUser }> {
  const namespace = await cluster.namespace(name);
  await cluster.userClient.apply(bound(namespace));
  const rule = {
    apiGroups: [GROUP],
    resources: ['volumecapturerequests'],
    verbs: ['create', 'get', 'patch'],
  };
  return { namespace, mallory: await cluster.user(namespace, 'mallory', [rule]) };
}

async function expectClaimKept({ admin }: AttackCluster, namespace: string): Promise<void> {
  const claim = await admin.get(PersistentVolumeClaim, { namespace, name: 'data' });
  expect(claim).toBeDefined();
  expect(claim?.metadata.deletionTimestamp).toBeUndefined();
}

async function expectDenied(
  { admin }: AttackCluster,
  key: { namespace: string; name: string },
): Promise<void> {
  await vi.waitFor(async () => {
    const request = await admin.get(VolumeCaptureRequest, key);
    const ready = request?.status?.conditions?.find(({ type }) => type === 'Ready');
    expect(`${ready?.status} ${ready?.reason}`).toBe('False RBACDenied');
  }, patient);
}

export const storage: readonly Attack[] = [
  {
    on: 'cluster',
    name: 'a user who may not delete a claim cannot detach its volume',
    attacker: 'a user with the right to create VolumeCaptureRequests and no right to persistentvolumeclaims',
    steps: 'creates a VolumeCaptureRequest of mode Detach for a claim of the namespace',
    mustNotObtain: 'the deletion of the claim',
    async run(cluster) {
      const { namespace, mallory } = await prepare(cluster, 'detach-reviewed');
      const answer = await mallory.client.create(VolumeCaptureRequest, detach(namespace, 'theft'));
      expect(answer.kind).toBe('invalid');
      expect(answer.kind === 'invalid' && answer.error.message).toContain(
        'may not delete persistentvolumeclaims data',
      );
      await expectClaimKept(cluster, namespace);
    },
  },
  {
    on: 'cluster',
    name: 'a Detach request that no admission reviewed is refused, also with a forged author',
    attacker: 'a user with the right to create VolumeCaptureRequests, while the webhook is not registered',
    steps:
      'creates one VolumeCaptureRequest of mode Detach without an author and one with the name of an administrator in lapse.dev/author',
    mustNotObtain: 'the deletion of the claim',
    async run(cluster) {
      const { namespace, mallory } = await prepare(cluster, 'detach-unreviewed');
      const forged = JSON.stringify({ username: 'admin', groups: ['system:masters'], seal: 'Zm9yZ2Vk' });
      await cluster.withoutAdmission(async () => {
        await mallory.client.create(VolumeCaptureRequest, detach(namespace, 'plain'));
        await mallory.client.create(
          VolumeCaptureRequest,
          detach(namespace, 'forged', { 'lapse.dev/author': forged }),
        );
      });
      for (const name of ['plain', 'forged']) await expectDenied(cluster, { namespace, name });
      await expectClaimKept(cluster, namespace);
    },
  },
];
