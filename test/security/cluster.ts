// The cluster of the attack table: an API server with RBAC, users with exactly the rights of a row, and one `lapse run`
// with the roles and webhooks of the chart.

import { isObject } from '@lapse/kube/api/json';
import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import { createUserClient, type UserClient } from '@lapse/simulation/userClient';
import { type TTLPolicy, TTLPolicy as TTLPolicyKind } from 'lapse/api/ttlPolicy';
import { AUTHOR_ANNOTATION } from 'lapse/authors/authorSeal';
import { buildInstallationAccess } from 'lapse/cli/manifests/access';
import { FAMILIES } from 'lapse/controllers/registry';
import type { Rule } from 'lapse/manager/rbac';
import { vi } from 'vitest';
import { freePorts } from '../kube/bed/ports.ts';
import { openFamilyCluster, type Place } from '../kube/rbac/cluster.ts';
import { localWebhooks, webhookFlags } from '../kube/rbac/webhooks.ts';
import { installationOf, NAMESPACE } from '../scenarios/rbac/installation.ts';
import type { AttackCluster, AttackUser } from './attack.ts';

/** API servers observe changed webhook configurations and roles a moment later. */
export const SOON = { timeout: 60_000, interval: 50 };

const RBAC = 'rbac.authorization.k8s.io';
const INSTALLATION = installationOf(...FAMILIES);

export interface OpenAttackCluster extends AttackCluster {
  close(): Promise<void>;
}

export async function openAttackCluster(place: Place): Promise<OpenAttackCluster> {
  const cluster = await openFamilyCluster(place);
  const { userClient } = cluster;
  const admin = cluster.clientOf(place.adminToken);
  const [port] = (await freePorts(1)) as [number];
  const hooks = localWebhooks(INSTALLATION, port);
  for (const object of [...buildInstallationAccess(INSTALLATION), ...hooks]) await userClient.apply(object);
  const lapse = cluster.run(INSTALLATION.name, await cluster.tokenOf(INSTALLATION.name), [
    `--controllers=${INSTALLATION.controllers.join()}`,
    '--feature-gates=AllAlpha=true',
    '--metrics-bind-address=127.0.0.1:0',
    ...webhookFlags(INSTALLATION, port),
  ]);
  const waitForAdmission = (active: boolean) =>
    vi.waitFor(async () => {
      if ((await isReviewed(admin)) !== active) throw new Error(`reviews by the webhook: not ${active}`);
    }, SOON);
  await waitForAdmission(true);
  return {
    ...place,
    admin,
    userClient,
    lapse,
    webhookUrl: `https://127.0.0.1:${port}`,
    namespace: (name) => createNamespace(userClient, name),
    user: async (namespace, name, rules) => {
      await grant(userClient, { namespace, name }, rules);
      const token = await cluster.tokenOf(name, namespace);
      return userOf(`system:serviceaccount:${namespace}:${name}`, token, cluster.clientOf(token));
    },
    grantLapse: (rules) => grantLapse(userClient, rules),
    withoutAdmission: async (work) => {
      const stored = await readAll(userClient, hooks);
      for (const { kind, metadata } of hooks)
        await userClient.delete(`${kind.toLowerCase()}/${metadata.name}`);
      try {
        await waitForAdmission(false);
        await work();
      } finally {
        await userClient.create(stored);
        await waitForAdmission(true);
      }
    },
    close: () => cluster.close(),
  };
}

const userOf = (username: string, token: string, client: Client): AttackUser => ({
  username,
  token,
  client,
  userClient: createUserClient(client),
});

async function createNamespace(userClient: UserClient, name: string): Promise<string> {
  await userClient.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } } as KubeObject);
  return name;
}

/** A service account with a separate role, in one namespace. */
async function grant(
  userClient: UserClient,
  metadata: { namespace: string; name: string },
  rules: readonly Rule[],
): Promise<void> {
  const roleRef = { apiGroup: RBAC, kind: 'Role', name: metadata.name };
  const subjects = [{ kind: 'ServiceAccount', ...metadata }];
  await userClient.apply([
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata, rules },
    { apiVersion: `${RBAC}/v1`, kind: 'RoleBinding', metadata, roleRef, subjects },
  ] as KubeObject[]);
}

let granted = 0;

async function grantLapse(userClient: UserClient, rules: readonly Rule[]): Promise<void> {
  const metadata = { name: `lapse-granted-${granted++}` };
  const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name: metadata.name };
  const subjects = [{ kind: 'ServiceAccount', namespace: NAMESPACE, name: INSTALLATION.name }];
  await userClient.apply([
    { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata, rules },
    { apiVersion: `${RBAC}/v1`, kind: 'ClusterRoleBinding', metadata, roleRef, subjects },
  ] as unknown as KubeObject[]);
}

/** The configurations as completed by the process, without fields that a server adds to stored objects. */
async function readAll(userClient: UserClient, hooks: readonly KubeObject[]): Promise<KubeObject[]> {
  const found: KubeObject[] = [];
  for (const { kind, metadata } of hooks) {
    const object = (await userClient.get(`${kind.toLowerCase()}/${metadata.name}`))!;
    found.push({ ...object, metadata: { name: metadata.name!, labels: metadata.labels ?? {} } });
  }
  return found;
}

/** Whether a write reaches the webhook: it adds the author to a policy, also in a dry run. */
async function isReviewed(admin: Client): Promise<boolean> {
  const policy = {
    apiVersion: 'lapse.dev/v1alpha1',
    kind: 'TTLPolicy',
    metadata: { name: 'probe', namespace: 'default' },
    spec: { target: { apiVersion: 'v1', kind: 'ConfigMap' }, ttl: '720h', from: 'Created', mode: 'DryRun' },
  } as unknown as TTLPolicy;
  const answer = await admin.create(TTLPolicyKind as Kind<TTLPolicy>, policy, { dryRun: true });
  const object = 'object' in answer ? answer.object : undefined;
  return isObject(object?.metadata.annotations) && AUTHOR_ANNOTATION in object.metadata.annotations;
}
