// Which right a request needs, as a sequence of requests: paths, deep subresources, names that are only selected. Also:
// which changes of a role need the rights in it. Run on the real server and on the embedded one.

import type { JsonObject } from '@lapse/kube/api/json';
import {
  type AccessStep,
  account,
  acting,
  admin,
  binding,
  GROUP,
  granted,
  HERE,
  RBAC,
  robot,
  role,
  rule,
} from './stepKit.ts';

const BY_NAME = '/api/v1/namespaces?fieldSelector=metadata.name%3DNS';
const MERGE = { 'content-type': 'application/merge-patch+json' };
const patch = (path: string, body: JsonObject) => acting(MERGE, robot('PATCH', path, body));

export const ROLE_STEPS: readonly AccessStep[] = [
  // A namespace object is in its own namespace, but only if the path says so.
  admin('POST', `${HERE}/roles`, role('namespaces', [rule(['namespaces'], ['get', 'list', 'watch'])])),
  admin('POST', `${HERE}/rolebindings`, binding('namespaces', 'namespaces', account)),
  robot('GET', '/api/v1/namespaces/NS'),
  robot('GET', BY_NAME),
  robot('GET', `${BY_NAME}&watch=1&timeoutSeconds=1`),
  robot('GET', '/api/v1/namespaces/NS/status'),
  robot('GET', '/api/v1/namespaces/NS/status/more'),
  robot('GET', '/apis/example.com/v1/namespaces/NS'),
  // Paths: the method is the verb.
  robot('POST', '/foo', {}),
  robot('PUT', '/apis', {}),
  robot('PATCH', '/healthz', {}),
  robot('HEAD', '/healthz'),
  robot('GET', '/healthz'),
  robot('SEARCH', '/healthz'),
  robot('GET', '/a%26b%3Cc%3E%22'),
  // Resources: methods without a meaning there.
  robot('SEARCH', '/api/v1/namespaces/NS/secrets'),
  robot('HEAD', '/api/v1/namespaces/NS/secrets'),
  robot('GET', '/api/v1/namespaces/NS/pods/p/proxy/a/b'),
  robot('GET', '/api/v1/namespaces/NS/services/s/proxy/'),
  // Changes of a role that grant nothing new.
  admin('POST', `${RBAC}/clusterroles`, role('NS-big', [rule(['secrets'], ['get'])], 'ClusterRole')),
  admin('POST', `${RBAC}/clusterroles`, {
    ...role('NS-sum', [], 'ClusterRole'),
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { team: 'NS' } }] },
  }),
  ...granted('NS-editor', [
    { apiGroups: [GROUP], resources: ['clusterroles'], verbs: ['get', 'create', 'patch', 'update'] },
  ]),
  patch(`${RBAC}/clusterroles/NS-big`, {}),
  patch(`${RBAC}/clusterroles/NS-big`, { metadata: { finalizers: ['example.com/hold'] } }),
  patch(`${RBAC}/clusterroles/NS-big`, { metadata: { annotations: { a: 'b' } } }),
  patch(`${RBAC}/clusterroles/NS-big`, { metadata: { finalizers: null } }),
  patch(`${RBAC}/clusterroles/NS-sum`, {}),
  patch(`${RBAC}/clusterroles/NS-sum`, { metadata: { labels: { a: 'b' } } }),
  robot('POST', `${RBAC}/clusterroles`, { ...role('NS-odd', [], 'ClusterRole'), aggregationRule: {} }),
  robot('POST', `${RBAC}/clusterroles`, {
    ...role('NS-even', [], 'ClusterRole'),
    aggregationRule: { clusterRoleSelectors: [{}] },
  }),
];
