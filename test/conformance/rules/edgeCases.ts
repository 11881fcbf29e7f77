// Corner cases of clients that the recorded cases do not cover: where watches begin, rights to one name, an applied
// scale, refusals while a namespace is terminating.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import type { Step, WireFile } from '../replay/types.ts';

const SPACE = '/api/v1/namespaces/{{ns}}';
const MAPS = `${SPACE}/configmaps`;
const RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces/{{ns}}';
const SETS = '/apis/apps/v1/namespaces/{{ns}}/replicasets';

const map = (metadata: JsonObject): JsonObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
const post = (path: string, body: Json): Step => ({
  do: { method: 'POST', path, body },
  expect: { status: 201 },
});
const get = (path: string, status: number, match: Json = {}): Step => ({
  do: { method: 'GET', path },
  expect: { status, match },
});
const asNobody = (path: string, status: number): Step => ({
  do: { method: 'GET', path, as: 'nobody' },
  expect: { status },
});

const fromNow = (version: string): Step => ({
  do: {
    watch: `${MAPS}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan${version}`,
    until: 1,
    while: [post(MAPS, map({ name: 'b' }))],
  },
  expect: { status: 200, events: [{ type: 'ADDED', match: { metadata: { name: 'b' } } }] },
});

const scale = (query: string, status: number, match: Json): Step => ({
  do: {
    method: 'PATCH',
    path: `${SETS}/r/scale?fieldManager=me${query}`,
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'r' },
      spec: { replicas: 5 },
    },
  },
  expect: { status, match },
});

const replicaSet: JsonObject = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'r' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { a: 'b' } },
    template: {
      metadata: { labels: { a: 'b' } },
      spec: { containers: [{ name: 'c', image: 'i:1' }] },
    },
  },
};

const role = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: { name: 'r' },
  rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'], verbs: ['list', 'watch'] }],
};
const binding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name: 'r' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'nobody' }],
};

const refusedForEnding = (path: string, body: Json, named: string): Step => ({
  do: { method: 'POST', path, body },
  expect: {
    status: 403,
    match: {
      reason: 'Forbidden',
      message: `${named} is forbidden: unable to create new content in namespace {{ns}} because it is being terminated`,
    },
  },
});

export const EDGE_CASES: WireFile = {
  topic: 'corners',
  about: 'What clients meet rarely.',
  cases: [
    {
      name: 'A watch with sendInitialEvents=false sends no initial events, without a version.',
      steps: [post(MAPS, map({ name: 'a' })), fromNow('')],
    },
    {
      name: 'A watch with sendInitialEvents=false sends no initial events from version 0.',
      steps: [post(MAPS, map({ name: 'a' })), fromNow('&resourceVersion=0')],
    },
    {
      name: 'An empty number is invalid.',
      steps: [get(`${MAPS}?limit=`, 400)],
    },
    {
      name: 'A right to one name covers lists and watches of that name.',
      steps: [
        post(`${RBAC}/roles`, role),
        post(`${RBAC}/rolebindings`, binding),
        {
          do: {
            method: 'GET',
            path: `${MAPS}?fieldSelector=metadata.name%3Da`,
            as: 'nobody',
            poll: { status: 200 },
          },
        },
        asNobody(`${MAPS}?fieldSelector=metadata.name%3Da&watch=1&timeoutSeconds=1`, 200),
        asNobody(`${MAPS}?fieldSelector=metadata.name%3Db`, 403),
        asNobody(`${MAPS}?fieldSelector=metadata.name!%3Da`, 403),
        asNobody(MAPS, 403),
        asNobody(`${MAPS}/a`, 403),
      ],
    },
    {
      name: 'An applied scale respects the manager that set the replicas before.',
      managedFields: true,
      steps: [
        { do: { method: 'POST', path: `${SETS}?fieldManager=x`, body: replicaSet }, expect: { status: 201 } },
        scale('', 409, {
          reason: 'Conflict',
          message: 'Apply failed with 1 conflict: conflict with "x" using autoscaling/v1: .spec.replicas',
        }),
        scale('&force=true', 200, { spec: { replicas: 5 } }),
        get(`${SETS}/r`, 200, {
          spec: { replicas: 5 },
          metadata: {
            managedFields: {
              $contains: [
                {
                  manager: 'me',
                  operation: 'Apply',
                  apiVersion: 'apps/v1',
                  subresource: 'scale',
                  fieldsType: 'FieldsV1',
                  fieldsV1: { 'f:spec': { 'f:replicas': {} } },
                },
              ],
            },
          },
        }),
      ],
    },
    {
      name: 'While a namespace is terminating, refusals name the object to be created.',
      steps: [
        post(`${SPACE}/pods`, {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'p', finalizers: ['example.com/x'] },
          spec: { containers: [{ name: 'c', image: 'i:1' }], automountServiceAccountToken: false },
        }),
        { do: { method: 'DELETE', path: SPACE }, expect: { status: 200 } },
        { do: { method: 'GET', path: SPACE, poll: { match: { status: { phase: 'Terminating' } } } } },
        refusedForEnding(MAPS, map({ generateName: 'g-' }), 'configmaps "g-"'),
        refusedForEnding(MAPS, map({ name: 'n' }), 'configmaps "n"'),
        refusedForEnding(
          `${SPACE}/pods/p/eviction`,
          { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p', namespace: '{{ns}}' } },
          'pods "p"',
        ),
      ],
      cleanup: [
        {
          do: {
            method: 'PATCH',
            path: `${SPACE}/pods/p`,
            headers: { 'content-type': 'application/merge-patch+json' },
            body: { metadata: { finalizers: null } },
          },
        },
      ],
    },
  ],
};
