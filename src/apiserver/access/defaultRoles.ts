// The roles a cluster with RBAC begins with: everything for administrators, discovery for everybody, reviews for servers of
// aggregated APIs, and the three that people bind most. The hundred roles of Kubernetes' own components are left out.

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

// What people work with in a namespace.
const WORK: [string[], string[]][] = [
  [
    [''],
    [
      'configmaps',
      'endpoints',
      'persistentvolumeclaims',
      'pods',
      'replicationcontrollers',
      'serviceaccounts',
      'services',
    ],
  ],
  [
    ['apps'],
    [
      'daemonsets',
      'deployments',
      'deployments/scale',
      'replicasets',
      'replicasets/scale',
      'statefulsets',
      'statefulsets/scale',
    ],
  ],
  [['autoscaling'], ['horizontalpodautoscalers']],
  [['batch'], ['cronjobs', 'jobs']],
  [['networking.k8s.io'], ['ingresses', 'networkpolicies']],
  [['policy'], ['poddisruptionbudgets']],
];
const SEEN = on(
  [''],
  ['bindings', 'events', 'limitranges', 'namespaces', 'pods/log', 'pods/status', 'resourcequotas'],
  READ,
);
const SECRETS = on([''], ['secrets'], [...READ, ...WRITE]);

const view = [...WORK.map(([groups, resources]) => on(groups, resources, READ)), SEEN];
const edit = [...view, SECRETS, ...WORK.map(([groups, resources]) => on(groups, resources, WRITE))];
const admin = [
  ...edit,
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
  admin,
  edit,
  view,
};

const BINDINGS: Readonly<Record<string, readonly string[]>> = {
  'cluster-admin': ['system:masters'],
  'system:discovery': ['system:authenticated'],
  'system:basic-user': ['system:authenticated'],
  'system:public-info-viewer': ['system:authenticated', 'system:unauthenticated'],
};

export async function bootstrapRoles(core: Core): Promise<void> {
  const metadata = (name: string) => ({
    name,
    uid: uuid(core.random),
    creationTimestamp: formatTime(core.clock.now()),
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
  });
  const put = async (plural: string, kind: string, name: string, more: JsonObject) => {
    const table = `${plural}.${GROUP}`;
    if (core.store.get(table, name)) return;
    await core.store.put(table, name, 0, {
      kind,
      apiVersion: `${GROUP}/v1`,
      metadata: metadata(name),
      ...more,
    });
  };
  for (const [name, rules] of Object.entries(ROLES))
    await put('clusterroles', 'ClusterRole', name, { rules });
  for (const [name, groups] of Object.entries(BINDINGS))
    await put('clusterrolebindings', 'ClusterRoleBinding', name, {
      subjects: groups.map((group) => ({ kind: 'Group', apiGroup: GROUP, name: group })),
      roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name },
    });
}
