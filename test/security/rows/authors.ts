// Authors: whose rights a policy, a Cleaner or a request is carried out with.

import { expect, vi } from 'vitest';
import type { Condition } from '#api/kinds/builtin';
import { TTLPolicy } from '#api/kinds/ttlPolicy';
import type { KubeObject } from '#api/object';
import { objectOf } from '#client/client';
import type { Rule } from '#cmd/rbac';
import { AUTHOR_ANNOTATION } from '#lifecycle/rightsAuthor';
import { type Attack, type AttackCluster, configMap } from '../attack.ts';
import { SOON } from '../cluster.ts';

const POLICIES: Rule[] = [
  { apiGroups: ['lapse.dev'], resources: ['ttlpolicies'], verbs: ['create', 'get', 'patch', 'delete'] },
];

/** Deletes every ConfigMap of its namespace at once, if its author may. */
const policy = (namespace: string, name: string, annotations: Record<string, string> = {}): TTLPolicy =>
  ({
    apiVersion: 'lapse.dev/v1alpha1',
    kind: 'TTLPolicy',
    metadata: { namespace, name, annotations },
    spec: { target: { apiVersion: 'v1', kind: 'ConfigMap' }, ttl: '0s', from: 'Created', mode: 'Enforce' },
  }) as unknown as TTLPolicy;

const waitForReason = ({ hands }: AttackCluster, ref: string, reason: string): Promise<void> =>
  vi.waitFor(async () => {
    const found = await hands.get<KubeObject & { status?: { conditions?: Condition[] } }>(ref);
    expect(found?.status?.conditions?.find(({ type }) => type === 'Ready')?.reason).toBe(reason);
  }, SOON);

export const authors: readonly Attack[] = [
  {
    on: 'cluster',
    name: 'a policy written while admission was away has no author, even with an author annotation of its own',
    attacker: 'a user with create on ttlpolicies, while the webhooks of Lapse are not registered',
    steps: 'writes a policy with an author annotation that names an administrator and a made-up seal',
    mustNotObtain: 'the deletion of objects that only an administrator may delete',
    async run(cluster) {
      const { hands } = cluster;
      const ns = await cluster.namespace('attack-unsigned');
      await cluster.grantLapse([
        { apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch', 'delete'] },
      ]);
      const mallory = await cluster.user(ns, 'mallory', POLICIES);
      await hands.apply(configMap(ns, 'treasure'));
      const forged = JSON.stringify({ username: 'admin', groups: ['system:masters'], seal: 'x'.repeat(44) });
      const made = policy(ns, 'unsigned', { [AUTHOR_ANNOTATION]: forged });
      await cluster.withoutAdmission(async () => {
        objectOf(await mallory.client.create(TTLPolicy, made));
      });
      await waitForReason(cluster, `${ns}/ttlpolicy/unsigned`, 'AuthorUnknown');
      expect(await hands.get(`${ns}/configmap/treasure`)).toBeDefined();
    },
  },
];
