// The roles a cluster with RBAC begins with: everything for administrators, discovery for everybody, reviews for servers of
// aggregated APIs, and the three that people bind most, into which others may go. The hundred roles of Kubernetes' own
// components are left out.

import type { JsonObject } from '#api/json';
import { formatTime } from '#base/instant';
import { uuid } from '#base/random';
import type { Core } from '../context.ts';

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

// What people work with in a namespace, by group: what `view` reads, and what `edit` writes beside.
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
  // What is more than to look at.
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
  // For servers of aggregated APIs.
  'system:auth-delegator': [
    on(['authentication.k8s.io'], ['tokenreviews'], ['create']),
    on(['authorization.k8s.io'], ['subjectaccessreviews'], ['create']),
  ],
  'system:aggregate-to-view': toView,
  'system:aggregate-to-edit': toEdit,
  'system:aggregate-to-admin': toAdmin,
  // What they aggregate is written into them, as a controller does in a cluster.
  view: toView,
  edit: [...toView, ...toEdit],
  admin: [...toView, ...toEdit, ...toAdmin],
};

const AGGREGATE = `${GROUP}/aggregate-to-`;
/** Into which of the three a role goes. */
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

export async function bootstrapRoles(core: Pick<Core, 'store' | 'clock' | 'random'>): Promise<void> {
  const metadata = (name: string, goesInto: string | undefined) => ({
    name,
    uid: uuid(core.random),
    creationTimestamp: formatTime(core.clock.now()),
    labels: {
      'kubernetes.io/bootstrapping': 'rbac-defaults',
      ...(goesInto === undefined ? {} : { [AGGREGATE + goesInto]: 'true' }),
    },
  });
  const put = async (plural: string, kind: string, name: string, more: JsonObject) => {
    const isRole = kind === 'ClusterRole';
    const table = `${plural}.${GROUP}`;
    if (core.store.get(table, name)) return;
    await core.store.put(table, name, 0, {
      kind,
      apiVersion: `${GROUP}/v1`,
      metadata: metadata(name, isRole ? AGGREGATED[name] : undefined),
      ...more,
    });
  };
  for (const [name, rules] of Object.entries(ROLES))
    await put('clusterroles', 'ClusterRole', name, { ...aggregationOf(name), rules });
  for (const [name, groups] of Object.entries(BINDINGS))
    await put('clusterrolebindings', 'ClusterRoleBinding', name, {
      subjects: groups.map((group) => ({ kind: 'Group', apiGroup: GROUP, name: group })),
      roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name },
    });
}
