// The default user-facing roles grant what they grant in a cluster.

import { seededRandom } from '@lapse/base/random';
import { VirtualClock } from '@lapse/base/virtualClock';
import { expect, test } from 'vitest';
import { Store } from '../store/store.ts';
import { Rbac } from './authorizer.ts';
import { bootstrapRoles } from './defaultRoles.ts';

const clock = new VirtualClock();
const store = Store.inMemory(clock);
await bootstrapRoles({ store, clock, random: seededRandom(1) });
for (const role of ['view', 'edit', 'admin']) {
  await store.put('rolebindings.rbac.authorization.k8s.io', `ns/${role}`, 0, {
    kind: 'RoleBinding',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    metadata: { name: role, namespace: 'ns' },
    subjects: [{ kind: 'User', name: role }],
    roleRef: { kind: 'ClusterRole', name: role },
  });
}
const widgets = (verbs: string[]) => [{ apiGroups: ['toys'], resources: ['widgets'], verbs }];
const CLUSTER_ROLES = 'clusterroles.rbac.authorization.k8s.io';
for (const [to, verbs] of [
  ['view', ['get']],
  ['edit', ['update']],
] as const) {
  const labels = { [`rbac.authorization.k8s.io/aggregate-to-${to}`]: 'true' };
  await store.put(CLUSTER_ROLES, `widgets-${to}`, 0, {
    kind: 'ClusterRole',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    metadata: { name: `widgets-${to}`, labels },
    rules: widgets([...verbs]),
  });
}
const rbac = new Rbac(store);

/** Which of the three roles allow the verb. */
function mayDo(verb: string, what: string): string[] {
  const [path = '', group = ''] = what.split('@');
  const [resource = '', subresource = ''] = path.split('/');
  const attributes = { verb, group, resource, subresource, name: 'x', namespace: 'ns' };
  return ['view', 'edit', 'admin'].filter(
    (username) => rbac.authorize({ username, groups: [] }, attributes).allowed,
  );
}

const ALL = ['view', 'edit', 'admin'];
const EDITORS = ['edit', 'admin'];

test.each([
  ['get', 'pods', ALL],
  ['get', 'jobs/status@batch', ALL],
  ['list', 'controllerrevisions@apps', ALL],
  ['watch', 'endpointslices@discovery.k8s.io', ALL],
  ['create', 'jobs@batch', EDITORS],
  ['get', 'secrets', EDITORS],
  ['patch', 'deployments/scale@apps', EDITORS],
  ['update', 'leases@coordination.k8s.io', EDITORS],
  ['create', 'events', EDITORS],
  ['create', 'pods/eviction', EDITORS],
  ['create', 'serviceaccounts/token', EDITORS],
  ['impersonate', 'serviceaccounts', EDITORS],
  ['create', 'rolebindings@rbac.authorization.k8s.io', ['admin']],
  // Rules of charts are aggregated into the roles, and from each role into the next.
  ['get', 'widgets@toys', ALL],
  ['update', 'widgets@toys', EDITORS],
  // A user who writes Endpoints can redirect traffic.
  ['update', 'endpoints', []],
  ['update', 'pods/status', []],
  ['update', 'resourcequotas', []],
  ['delete', 'namespaces', []],
])('%s %s', (verb, what, expected) => {
  expect(mayDo(verb, what)).toEqual(expected);
});
