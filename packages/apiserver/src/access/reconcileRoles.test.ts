// What the server restores at start, and what it leaves unchanged.

import { seededRandom } from '@lapse/base/random';
import { VirtualClock } from '@lapse/base/virtualClock';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { expect, test } from 'vitest';
import { Store } from '../store/store.ts';
import { bootstrapRoles } from './defaultRoles.ts';
import { AUTOUPDATE } from './reconcileRoles.ts';

const GROUP = 'rbac.authorization.k8s.io';
const ROLES = `clusterroles.${GROUP}`;
const BINDINGS = `clusterrolebindings.${GROUP}`;

async function restarted(table: string, name: string, change: (object: KubeObject) => object) {
  const clock = new VirtualClock();
  const store = Store.inMemory(clock);
  const parts = { store, clock, random: seededRandom(1) };
  await bootstrapRoles(parts);
  const before = structuredClone(store.get(table, name)!.object);
  const changed = { ...before, ...change(structuredClone(before)) } as KubeObject;
  const { next } = await store.put(table, name, store.get(table, name)!.revision, changed);
  await bootstrapRoles(parts);
  return { before, changed: next!, after: store.get(table, name)! };
}

const more = { apiGroups: ['toys'], resources: ['widgets'], verbs: ['get'] };
const anns = { kind: 'User', apiGroup: GROUP, name: 'ann' };

test('restores missing rules and keeps added ones', async () => {
  const { before, after } = await restarted(ROLES, 'system:basic-user', () => ({ rules: [more] }));
  const [first, ...rest] = after.object['rules'] as JsonObject[];
  expect(first).toEqual(more);
  expect(rest.map((rule) => rule['resources'])).toEqual([
    ['selfsubjectaccessreviews'],
    ['selfsubjectrulesreviews'],
    ['selfsubjectreviews'],
  ]);
  expect(after.object.metadata.uid).toBe(before.metadata.uid);
});

test('restores labels, annotations and aggregation', async () => {
  const { before, after } = await restarted(ROLES, 'edit', ({ metadata }) => ({
    metadata: { ...metadata, labels: { mine: 'yes' }, annotations: {} },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { mine: 'yes' } }] },
  }));
  expect(after.object.metadata.labels).toEqual({ ...before.metadata.labels, mine: 'yes' });
  expect(after.object.metadata.annotations).toEqual({ [AUTOUPDATE]: 'true' });
  expect(after.object['aggregationRule']).toEqual({
    clusterRoleSelectors: [
      { matchLabels: { mine: 'yes' } },
      { matchLabels: { [`${GROUP}/aggregate-to-edit`]: 'true' } },
    ],
  });
});

test('removes an aggregation rule that the default role does not have', async () => {
  const { after } = await restarted(ROLES, 'cluster-admin', () => ({
    aggregationRule: { clusterRoleSelectors: [{}] },
  }));
  expect(after.object['aggregationRule']).toBeUndefined();
});

test('restores missing subjects and keeps added ones', async () => {
  const { before, after } = await restarted(BINDINGS, 'system:discovery', () => ({ subjects: [anns] }));
  expect(after.object['subjects']).toEqual([anns, ...(before['subjects'] as JsonObject[])]);
});

test('replaces a binding that refers to another role', async () => {
  const { before, after } = await restarted(BINDINGS, 'system:discovery', () => ({
    subjects: [anns],
    roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: 'view' },
  }));
  expect(after.object['roleRef']).toEqual(before['roleRef']);
  expect(after.object['subjects']).toEqual(before['subjects']);
  expect(after.object.metadata.uid).not.toBe(before.metadata.uid);
});

test.each([
  [
    'a complete role',
    ROLES,
    'true',
    {
      rules: [
        { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
        { nonResourceURLs: ['*'], verbs: ['*'] },
        more,
      ],
    },
  ],
  ['a role with autoupdate disabled', ROLES, 'false', { rules: [] }],
  ['a binding with autoupdate disabled', BINDINGS, 'false', { subjects: [], roleRef: { name: 'view' } }],
])('does not change %s', async (_, table, autoupdate, change) => {
  const { changed, after } = await restarted(table, 'cluster-admin', ({ metadata }) => ({
    metadata: { ...metadata, annotations: { [AUTOUPDATE]: autoupdate } },
    ...change,
  }));
  expect(after.revision).toBe(changed.revision);
});
