// The cases about writes: the right to change does not include the right to create, and a repeated owner counts once.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import type { Case, Step } from './cases.ts';

const RBAC = 'rbac.authorization.k8s.io';
const CHANGER = 'changer';
const APPLY = 'application/apply-patch+yaml';

/** Created before the cases: a user who may update and patch, and nothing else. */
export const WRITE_STAGE: readonly Step[] = [
  {
    method: 'POST',
    path: `/apis/${RBAC}/v1/clusterroles`,
    body: {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata: { name: CHANGER },
      rules: [
        {
          apiGroups: ['', 'coordination.k8s.io', 'things.example.com', RBAC],
          resources: ['configmaps', 'namespaces', 'leases', 'things', 'roles'],
          verbs: ['update', 'patch'],
        },
      ],
    },
  },
  {
    method: 'POST',
    path: `/apis/${RBAC}/v1/clusterrolebindings`,
    body: {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: CHANGER },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: CHANGER },
      subjects: [{ apiGroup: RBAC, kind: 'User', name: CHANGER }],
    },
  },
];

const MAPS = '/api/v1/namespaces/{ns}/configmaps';
const THINGS = '/apis/things.example.com/v1/namespaces/{ns}/things';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/{ns}/leases';
const named = (apiVersion: string, kind: string, metadata: JsonObject = {}): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name: 'a', ...metadata },
});
const map = (metadata: JsonObject = {}): JsonObject => named('v1', 'ConfigMap', metadata);
const thing = (metadata: JsonObject = {}): JsonObject => named('things.example.com/v1', 'Thing', metadata);
const lease = (more: JsonObject): JsonObject => ({ ...named('coordination.k8s.io/v1', 'Lease'), ...more });

const post = (path: string, body: Json): Step => ({ method: 'POST', path, body });
const put = (path: string, body: Json): Step => ({ method: 'PUT', path, body });
const apply = (path: string, body: Json): Step => ({
  method: 'PATCH',
  path: `${path}?fieldManager=x`,
  type: APPLY,
  body,
});
const asChanger = (step: Step): Step => ({ ...step, as: CHANGER });

const RIGHT_CASES: readonly Case[] = [
  {
    name: 'the permission to patch does not allow creation by apply',
    steps: [asChanger(apply(`${MAPS}/a`, map()))],
  },
  { name: 'nor custom objects', steps: [asChanger(apply(`${THINGS}/a`, thing()))] },
  {
    name: 'nor namespaces, which are in themselves',
    steps: [asChanger(apply('/api/v1/namespaces/{ns}-new', named('v1', 'Namespace', { name: '{ns}-new' })))],
  },
  {
    name: 'but changes by applying what is there',
    steps: [post(MAPS, map()), asChanger(apply(`${MAPS}/a`, { ...map(), data: { k: 'v' } }))],
  },
  {
    name: 'the permission to update does not allow creation by update',
    steps: [asChanger(put(`${LEASES}/a`, lease({ spec: {} })))],
  },
  {
    name: 'nor roles',
    steps: [
      asChanger(
        put(`/apis/${RBAC}/v1/namespaces/{ns}/roles/a`, { ...named(`${RBAC}/v1`, 'Role'), rules: [] }),
      ),
    ],
  },
  {
    name: 'what is wrong with the object is told first',
    steps: [asChanger(put(`${LEASES}/a`, lease({ spec: { leaseDurationSeconds: -1 } })))],
  },
];

const owner = (more: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: 'x',
  uid: 'u1',
  ...more,
});
const owned = (...ownerReferences: JsonObject[]): JsonObject => ({ ownerReferences });
const add = (path: string, type: string, body: Json): Step => ({ method: 'PATCH', path, type, body });
const MORE = [{ op: 'add', path: '/metadata/ownerReferences/-', value: owner() }];

const OWNER_CASES: readonly Case[] = [
  { name: 'the same owner twice counts once', steps: [post(MAPS, map(owned(owner(), owner())))] },
  { name: 'of a custom object, too', steps: [post(THINGS, thing(owned(owner(), owner())))] },
  {
    name: 'every one that is left out is named',
    steps: [post(MAPS, map(owned(owner(), owner({ uid: 'u2' }), owner(), owner({ uid: 'u2' }), owner())))],
  },
  {
    name: 'an owner of the same uid that differs is another one',
    steps: [
      post(
        MAPS,
        map(owned(owner(), owner({ controller: false }), owner({ name: 'y' }), owner({ kind: 'Y' }))),
      ),
    ],
  },
  {
    name: 'the same owner twice in an update',
    steps: [post(MAPS, map()), put(`${MAPS}/a`, map(owned(owner(), owner())))],
  },
  {
    name: 'the same owner twice in an update that creates',
    steps: [
      put(`${LEASES}/a`, { ...lease({ spec: {} }), metadata: { name: 'a', ...owned(owner(), owner()) } }),
    ],
  },
  {
    name: 'the same owner twice after a patch',
    steps: [post(MAPS, map(owned(owner()))), add(`${MAPS}/a`, 'application/json-patch+json', MORE)],
  },
  {
    name: 'the same owner twice after a patch of a custom object',
    steps: [
      post(THINGS, thing(owned(owner()))),
      add(`${THINGS}/a`, 'application/merge-patch+json', { metadata: owned(owner(), owner()) }),
    ],
  },
  {
    name: 'the same owner cannot be applied twice',
    steps: [apply(`${MAPS}/a`, map(owned(owner(), owner())))],
  },
];

export const WRITE_CASES: readonly Case[] = [...RIGHT_CASES, ...OWNER_CASES];
