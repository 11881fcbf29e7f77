// The default roles of a cluster with RBAC: everything for administrators, discovery for all users, reviews for
// aggregated API servers, and the three aggregated user-facing roles. The about 100 roles of Kubernetes' own
// components are not included.

import { formatTime } from '@lapse/base/instant';
import { uuid } from '@lapse/base/random';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Core } from '../context.ts';
import { AUTOUPDATE, type Reconciled, reconcileBinding, reconcileRole } from './reconcileRoles.ts';

const GROUP = 'rbac.authorization.k8s.io';
const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update'];

const on = (apiGroups: string[], resources: string[], verbs: string[]): JsonObject => ({
  apiGroups,
  resources,
  verbs,
});

const DISCOVERY = [
  '/api',
  '/api/*',
  '/apis',
  '/apis/*',
  '/healthz',
  '/livez',
  '/openapi',
  '/openapi/*',
  '/readyz',
  '/version',
  '/version/',
];
const HEALTH = ['/healthz', '/livez', '/readyz', '/version', '/version/'];

// Resources of users in a namespace, by group: those that `view` reads, and those that `edit` writes in addition.
const SEEN: Readonly<Record<string, string>> = {
  '': 'bindings configmaps endpoints events limitranges namespaces namespaces/status persistentvolumeclaims persistentvolumeclaims/status pods pods/log pods/status replicationcontrollers replicationcontrollers/scale replicationcontrollers/status resourcequotas resourcequotas/status serviceaccounts services services/status',
  apps: 'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
  autoscaling: 'horizontalpodautoscalers horizontalpodautoscalers/status',
  batch: 'cronjobs cronjobs/status jobs jobs/status',
  'discovery.k8s.io': 'endpointslices',
  'networking.k8s.io': 'ingresses ingresses/status networkpolicies',
  policy: 'poddisruptionbudgets poddisruptionbudgets/status',
};
const WRITTEN: Readonly<Record<string, string>> = {
  '': 'configmaps events persistentvolumeclaims pods pods/attach pods/exec pods/portforward pods/proxy replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy',
  apps: 'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale',
  autoscaling: 'horizontalpodautoscalers',
  batch: 'cronjobs jobs',
  'networking.k8s.io': 'ingresses networkpolicies',
  policy: 'poddisruptionbudgets',
};

const each = (groups: Readonly<Record<string, string>>, verbs: string[]): JsonObject[] =>
  Object.entries(groups).map(([group, resources]) => on([group], resources.split(' '), verbs));

const toView = each(SEEN, READ);
const toEdit = [
  ...each(WRITTEN, WRITE),
  // Rights beyond reading.
  on([''], ['pods/attach', 'pods/exec', 'pods/portforward', 'pods/proxy', 'secrets', 'services/proxy'], READ),
  on([''], ['pods/eviction', 'serviceaccounts/token'], ['create']),
  on([''], ['serviceaccounts'], ['impersonate']),
  on(['coordination.k8s.io'], ['leases'], [...READ, ...WRITE]),
];
const toAdmin = [
  on([GROUP], ['rolebindings', 'roles'], [...READ, ...WRITE]),
  on(['authorization.k8s.io'], ['localsubjectaccessreviews'], ['create']),
];

const ROLES: Readonly<Record<string, JsonObject[]>> = {
  'cluster-admin': [on(['*'], ['*'], ['*']), { nonResourceURLs: ['*'], verbs: ['*'] }],
  'system:discovery': [{ nonResourceURLs: DISCOVERY, verbs: ['get'] }],
  'system:public-info-viewer': [{ nonResourceURLs: HEALTH, verbs: ['get'] }],
  'system:basic-user': [
    on(['authorization.k8s.io'], ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'], ['create']),
    on(['authentication.k8s.io'], ['selfsubjectreviews'], ['create']),
  ],
  // For aggregated API servers.
  'system:auth-delegator': [
    on(['authentication.k8s.io'], ['tokenreviews'], ['create']),
    on(['authorization.k8s.io'], ['subjectaccessreviews'], ['create']),
  ],
  'system:aggregate-to-view': toView,
  'system:aggregate-to-edit': toEdit,
  'system:aggregate-to-admin': toAdmin,
  // Includes the aggregated rules, which a controller writes in a cluster.
  view: toView,
  edit: [...toView, ...toEdit],
  admin: [...toView, ...toEdit, ...toAdmin],
};

const AGGREGATE = `${GROUP}/aggregate-to-`;
/** The user-facing role into which a role is aggregated. */
const AGGREGATED: Readonly<Record<string, string>> = {
  'system:aggregate-to-view': 'view',
  'system:aggregate-to-edit': 'edit',
  'system:aggregate-to-admin': 'admin',
  view: 'edit',
  edit: 'admin',
};

const aggregationOf = (name: string): JsonObject =>
  ['view', 'edit', 'admin'].includes(name)
    ? { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [AGGREGATE + name]: 'true' } }] } }
    : {};

const BINDINGS: Readonly<Record<string, readonly string[]>> = {
  'cluster-admin': ['system:masters'],
  'system:discovery': ['system:authenticated'],
  'system:basic-user': ['system:authenticated'],
  'system:public-info-viewer': ['system:authenticated', 'system:unauthenticated'],
};

type Parts = Pick<Core, 'store' | 'clock' | 'random'>;

/** Creates missing roles and bindings, and adds missing rules and subjects to existing ones. */
export async function bootstrapRoles(core: Parts): Promise<void> {
  for (const role of Object.keys(ROLES)) await ensure(core, 'clusterroles', buildRole(role), reconcileRole);
  for (const role of Object.keys(BINDINGS))
    await ensure(core, 'clusterrolebindings', buildBinding(role), reconcileBinding);
}

async function ensure(
  { store, clock, random }: Parts,
  plural: string,
  expected: KubeObject,
  reconcile: (existing: KubeObject, expected: KubeObject) => Reconciled,
): Promise<void> {
  const table = `${plural}.${GROUP}`;
  const name = expected.metadata.name!;
  const create = () => {
    const born = { uid: uuid(random), creationTimestamp: formatTime(clock.now()) };
    return store.put(table, name, 0, { ...expected, metadata: { ...expected.metadata, ...born } });
  };
  const stored = store.get(table, name);
  if (stored === undefined) return void (await create());
  const reconciled = reconcile(stored.object, expected);
  switch (reconciled.kind) {
    case 'asItIs':
      return;
    case 'update':
      await store.put(table, name, stored.revision, reconciled.object);
      return;
    case 'replace':
      await store.remove(table, name, stored.revision);
      await create();
  }
}

const metadataOf = (name: string, goesInto?: string) => ({
  name,
  labels: {
    'kubernetes.io/bootstrapping': 'rbac-defaults',
    ...(goesInto === undefined ? {} : { [AGGREGATE + goesInto]: 'true' }),
  },
  annotations: { [AUTOUPDATE]: 'true' },
});

const buildRole = (name: string): KubeObject => ({
  kind: 'ClusterRole',
  apiVersion: `${GROUP}/v1`,
  metadata: metadataOf(name, AGGREGATED[name]),
  ...aggregationOf(name),
  rules: ROLES[name]!,
});

const buildBinding = (name: string): KubeObject => ({
  kind: 'ClusterRoleBinding',
  apiVersion: `${GROUP}/v1`,
  metadata: metadataOf(name),
  subjects: BINDINGS[name]!.map((group) => ({ kind: 'Group', apiGroup: GROUP, name: group })),
  roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name },
});
