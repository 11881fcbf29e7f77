// Attacks on decision records and on the account that deletes.

import { ConfigMap } from '@lapse/kube/api/kinds/builtin';
import { KubeEvent } from '@lapse/runtime/events/build';
import { Cleaner } from 'lapse/api/cleaner';
import { accountSubject, impersonationOf, reviewSubject } from 'lapse/authors/accessReview';
import { expect, vi } from 'vitest';
import { type Attack, type AttackCluster, configMap } from '../attack.ts';

const patient = { timeout: 30_000, interval: 100 };
const GROUP = 'cleaner.vtex.dev';
const rule = (group: string, resource: string, ...verbs: string[]) => ({
  apiGroups: [group],
  resources: [resource],
  verbs,
});

/** The record of an older generation, another account and an object that the attacker may not delete. */
async function forgeRecord(cluster: AttackCluster): Promise<void> {
  const namespace = await cluster.namespace('forged-record');
  await cluster.user(namespace, 'robot', [rule('', 'configmaps', 'get', 'list', 'delete')]);
  const mallory = await cluster.user(namespace, 'mallory', [
    rule(GROUP, 'cleaners', 'create', 'get', 'patch'),
    rule(GROUP, 'cleaners/status', 'patch'),
    rule('', 'configmaps', 'get'),
  ]);
  await cluster.userClient.apply(configMap(namespace, 'foreign'));
  const key = { namespace, name: 'forged' };
  const foreign = await mallory.client.get(ConfigMap, { namespace, name: 'foreign' });
  await mallory.client.create(Cleaner, {
    apiVersion: `${GROUP}/v1alpha`,
    kind: 'Cleaner',
    metadata: key,
    spec: { ttl: '1000h' },
  });
  const time = new Date().toISOString();
  const target = { group: '', version: 'v1', resource: 'configmaps', name: 'foreign' };
  const deletion = {
    generation: 1,
    evaluatedAt: time,
    startedAt: time,
    serviceAccountName: 'robot',
    targets: [{ ...target, uid: foreign?.metadata.uid ?? '' }],
    seal: 'Zm9yZ2Vk',
  };
  await mallory.client.patch(
    Cleaner,
    key,
    { type: 'merge', patch: { status: { deletion } } },
    { subresource: 'status' },
  );
  // The record has an older generation now, and the controller reconciles.
  await mallory.client.patch(Cleaner, key, { type: 'merge', patch: { spec: { ttl: '1001h' } } });
  await vi.waitFor(async () => {
    const { items } = await cluster.admin.list(KubeEvent, { namespace });
    expect(items.map(({ reason, type }) => `${type} ${reason}`)).toContain('Warning DecisionDiscarded');
  }, patient);
  await vi.waitFor(async () => {
    expect((await cluster.admin.get(Cleaner, key))?.status?.deletion).toBeUndefined();
  }, patient);
  expect(await cluster.admin.get(Cleaner, key)).toBeDefined();
  expect(await cluster.admin.get(ConfigMap, { namespace, name: 'foreign' })).toBeDefined();
}

/** The rights of the token of a default installation. */
async function useStolenToken(cluster: AttackCluster): Promise<void> {
  const namespace = await cluster.namespace('stolen-token');
  const lapse = accountSubject({ namespace: 'lapse-system', name: 'lapse' });
  const refused = await reviewSubject(cluster.admin, lapse, [
    impersonationOf({ namespace, name: 'default' }),
    { verb: 'impersonate', group: '', resource: 'users' },
    { verb: 'impersonate', group: '', resource: 'groups' },
    { verb: 'get', group: '', resource: 'secrets', namespace },
    { verb: 'list', group: '', resource: 'secrets', namespace },
    { verb: 'delete', group: '', resource: 'secrets', namespace },
  ]);
  expect(refused).toHaveLength(6);
}

export const records: readonly Attack[] = [
  {
    on: 'cluster',
    name: 'a forged deletion record is discarded',
    attacker: 'a user with create and patch on cleaners and patch on cleaners/status',
    steps:
      'writes status.deletion with an older generation, another serviceAccountName and foreign targets, then edits the spec',
    mustNotObtain: 'a deletion that neither the user nor Lapse was allowed to make',
    run: forgeRecord,
  },
  {
    on: 'cluster',
    name: 'the token of a default installation impersonates no one and reads no Secret of another namespace',
    attacker: "an intruder with the token of Lapse's service account",
    steps: 'reviews what the account may do in another namespace',
    mustNotObtain: 'impersonation of service accounts, users or groups, or access to Secrets',
    run: useStolenToken,
  },
];
