// What roles in the store allow: aggregated roles, and roles that were just changed.

import { VirtualClock } from '@lapse/base/virtualClock';
import type { JsonObject } from '@lapse/kube/api/json';
import { expect, test } from 'vitest';
import { Store } from '../store/store.ts';
import { Rbac } from './authorizer.ts';
import { readBinding } from './storedRules.ts';

const GROUP = 'rbac.authorization.k8s.io';
const ann = { username: 'ann', groups: [] };
const on = (...resources: string[]): JsonObject[] => [{ apiGroups: [''], resources, verbs: ['get'] }];

function setup() {
  const store = Store.inMemory(new VirtualClock());
  const rbac = new Rbac(store);
  const put = async (kind: 'ClusterRole' | 'ClusterRoleBinding', name: string, more: JsonObject) => {
    const table = `${kind.toLowerCase()}s.${GROUP}`;
    const { labels = {}, ...rest } = more;
    await store.put(table, name, store.get(table, name)?.revision ?? 0, {
      kind,
      apiVersion: `${GROUP}/v1`,
      metadata: { name, labels: labels as Record<string, string> },
      ...rest,
    });
  };
  const bind = (name: string, role: string, user = 'ann') =>
    put('ClusterRoleBinding', name, {
      subjects: [{ kind: 'User', name: user }],
      roleRef: { kind: 'ClusterRole', name: role },
    });
  const isAllowed = (resource: string) =>
    rbac.authorize(ann, { verb: 'get', group: '', resource, subresource: '', name: '', namespace: '' })
      .allowed;
  return { store, rbac, put, bind, isAllowed };
}

const consisting = (labels: JsonObject) => ({
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: labels }] },
});

test('an aggregated role allows the rules of its roles and ignores its own', async () => {
  const { rbac, put, bind, isAllowed } = setup();
  await put('ClusterRole', 'sum', { ...consisting({ into: 'sum' }), rules: on('secrets') });
  await put('ClusterRole', 'inner', { labels: { into: 'sum' }, ...consisting({ into: 'inner' }), rules: [] });
  await put('ClusterRole', 'pods', { labels: { into: 'inner' }, rules: on('pods') });
  await bind('sum', 'sum');
  expect(['pods', 'secrets'].map(isAllowed)).toEqual([true, false]);
  expect(rbac.rulesFor(ann, 'default').flatMap(({ resources }) => resources)).toEqual(['pods']);
});

test('roles that aggregate each other do not recurse forever', async () => {
  const { put, bind, isAllowed } = setup();
  await put('ClusterRole', 'a', { labels: { into: 'b' }, ...consisting({ into: 'a' }) });
  await put('ClusterRole', 'b', { labels: { into: 'a' }, ...consisting({ into: 'b' }) });
  await bind('a', 'a');
  expect(isAllowed('pods')).toBe(false);
});

test('a change of a role or binding takes effect at once', async () => {
  const { put, bind, isAllowed } = setup();
  await put('ClusterRole', 'reader', { rules: on('pods') });
  await bind('reads', 'reader');
  expect(isAllowed('pods')).toBe(true);
  await put('ClusterRole', 'reader', { rules: on('secrets') });
  expect(['pods', 'secrets'].map(isAllowed)).toEqual([false, true]);
  await bind('reads', 'reader', 'bob');
  expect(isAllowed('secrets')).toBe(false);
});

test('parses each binding once', async () => {
  const { store, bind, isAllowed } = setup();
  for (let i = 0; i < 40; i++) await bind(`of-others-${i}`, 'nothing', `user-${i}`);
  const first = () => store.get(`clusterrolebindings.${GROUP}`, 'of-others-0')!;
  const parsed = first().object;
  const read = readBinding(first());
  isAllowed('pods');
  expect(first().object).not.toBe(parsed);
  expect(readBinding(first())).toBe(read);
});
