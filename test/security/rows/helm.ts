// Attacks with forged records of Helm releases: a user who may write Secrets decides what they contain.

import { defineKind } from '@lapse/kube/api/kind';
import { Job } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { objectOf } from '@lapse/kube/client/client';
import { Cleaner } from 'lapse/api/cleaner';
import { installed, type ReleaseFixture, storedRelease } from 'lapse/helm/release.testkit';
import { expect, vi } from 'vitest';
import type { Attack, AttackCluster } from '../attack.ts';

const patient = { timeout: 30_000, interval: 100 };
const GROUP = 'cleaner.vtex.dev';
const RELEASE = 'shop';
const rule = (group: string, resource: string, ...verbs: string[]) => ({
  apiGroups: [group],
  resources: [resource],
  verbs,
});
const RECORDS = rule('', 'secrets', 'create', 'get', 'list', 'delete', 'patch');
const RBAC = 'rbac.authorization.k8s.io';
const ClusterRole = defineKind<KubeObject>({
  group: RBAC,
  version: 'v1',
  kind: 'ClusterRole',
  resource: 'clusterroles',
  namespaced: false,
});

/** A Cleaner and a forged record, written by a user with these rules; returns when the Cleaner has the condition. */
async function uninstallForged(
  cluster: AttackCluster,
  namespace: string,
  forged: ReleaseFixture,
  { rules, reason }: { readonly rules: readonly ReturnType<typeof rule>[]; readonly reason: string },
): Promise<string> {
  const writing = rule(GROUP, 'cleaners', 'create', 'get');
  const mallory = await cluster.user(namespace, 'mallory', [writing, RECORDS, ...rules]);
  await mallory.userClient.apply(storedRelease({ ...forged, name: RELEASE, namespace }));
  const key = { namespace, name: 'forged' };
  const spec = { ttl: '0s', helm: { release: RELEASE, delete: true } };
  await vi.waitFor(
    async () =>
      objectOf(
        await mallory.client.create(Cleaner, {
          apiVersion: `${GROUP}/v1alpha`,
          kind: 'Cleaner',
          metadata: key,
          spec,
        }),
      ),
    patient,
  );
  return vi.waitFor(async () => {
    const [ready] = (await cluster.admin.get(Cleaner, key))?.status?.conditions ?? [];
    expect(ready).toMatchObject({ status: 'False', reason });
    return ready?.message ?? '';
  }, patient);
}

/** The victim carries the ownership annotations of the release, so only the missing right protects it. */
async function deleteClusterScoped(cluster: AttackCluster): Promise<void> {
  const namespace = await cluster.namespace('forged-release');
  await cluster.grantLapse([RECORDS, rule(RBAC, 'clusterroles', 'get', 'delete')]);
  const name = `victim-${namespace}`;
  const victim = { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name }, rules: [] };
  await cluster.userClient.apply(installed(victim, { name: RELEASE, namespace }));
  const manifest = `apiVersion: ${RBAC}/v1\nkind: ClusterRole\nmetadata: {name: ${name}}\n`;
  // A right in the namespace is not a right at the cluster scope.
  const rules = [rule(RBAC, 'clusterroles', 'get', 'delete')];
  const message = await uninstallForged(
    cluster,
    namespace,
    { manifest },
    { rules, reason: 'HelmUninstallIncomplete' },
  );
  expect(message).toContain(`may not delete clusterroles.${RBAC} ${name}`);
  expect(await cluster.admin.get(ClusterRole, { name })).toBeDefined();
}

/** Lapse may create Jobs, the author may not. */
async function createByHook(cluster: AttackCluster): Promise<void> {
  const namespace = await cluster.namespace('forged-hook');
  await cluster.grantLapse([RECORDS, rule('batch', 'jobs', 'get', 'create', 'delete')]);
  const manifest =
    'apiVersion: batch/v1\nkind: Job\nmetadata: {name: miner}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}\n';
  const hooks = [{ name: 'miner', kind: 'Job', events: ['pre-delete'], weight: 0, manifest }];
  const message = await uninstallForged(
    cluster,
    namespace,
    { manifest: '', hooks },
    { rules: [rule('batch', 'jobs', 'get', 'list')], reason: 'HelmUninstallFailed' },
  );
  expect(message).toContain('may not create jobs.batch');
  expect((await cluster.admin.list(Job, { namespace })).items).toEqual([]);
}

export const helm: readonly Attack[] = [
  {
    on: 'cluster',
    name: 'a forged release record does not delete a cluster-scoped object that its author may not delete',
    attacker: 'a user who may create Cleaners and Secrets in a namespace',
    steps:
      'writes a release record that names a cluster-scoped object of a release of the namespace, and a Cleaner that uninstalls it',
    mustNotObtain: 'the deletion of the cluster-scoped object with the rights of Lapse',
    run: deleteClusterScoped,
  },
  {
    on: 'cluster',
    name: 'a hook of a release record is not created if the author of the Cleaner may not create its kind',
    attacker: 'a user who may create Cleaners and Secrets in a namespace, and no Jobs',
    steps: 'writes a release record with a pre-delete hook that is a Job, and a Cleaner that uninstalls it',
    mustNotObtain: 'a Job, created with the rights of Lapse',
    run: createByHook,
  },
];
