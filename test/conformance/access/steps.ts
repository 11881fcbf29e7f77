// Authorization as a sequence of requests: an administrator creates roles, a service account and an impersonated user
// try allowed and forbidden requests. Run on the real server and on the embedded one.

import type { JsonObject } from '@lapse/kube/api/json';
import {
  type AccessStep,
  account,
  acting,
  admin,
  binding,
  GROUP,
  HERE,
  MAPS,
  map,
  robot,
  role,
  rule,
} from './stepKit.ts';

/** An access review, sent by a user about a user. */
const review = (spec: JsonObject): JsonObject => ({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SubjectAccessReview',
  spec,
});
const REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const mapsOf = (verb: string, name = ''): JsonObject => ({
  resourceAttributes: { verb, resource: 'configmaps', namespace: 'NS', ...(name === '' ? {} : { name }) },
});

export const STEPS: readonly AccessStep[] = [
  robot('GET', MAPS),
  admin('POST', `${HERE}/roles`, role('reader', [rule(['configmaps'], ['get', 'list'])])),
  admin('POST', `${HERE}/rolebindings`, binding('reads', 'reader', account)),
  robot('GET', MAPS),
  robot('GET', `${MAPS}/missing`),
  robot('POST', MAPS, map('a')),
  robot('GET', '/api/v1/configmaps'),
  robot('GET', '/api/v1/namespaces/default/configmaps'),
  robot('GET', '/metrics'),
  // One object by its name, one subresource.
  admin('POST', MAPS, map('mine')),
  admin('POST', MAPS, map('other')),
  admin(
    'POST',
    `${HERE}/roles`,
    role('mine', [
      rule(['configmaps'], ['delete'], { resourceNames: ['mine'] }),
      rule(['serviceaccounts/token'], ['create']),
      rule(['*/status'], ['get']),
    ]),
  ),
  admin('POST', `${HERE}/rolebindings`, binding('owns', 'mine', account)),
  robot('DELETE', `${MAPS}/other`),
  robot('DELETE', `${MAPS}/mine`),
  robot('DELETE', MAPS),
  robot('GET', '/api/v1/namespaces/NS/pods/p/status'),
  robot('GET', '/api/v1/namespaces/NS/pods/p'),
  // A role that does not exist.
  admin('POST', `${HERE}/rolebindings`, binding('dangling', 'nothing', account)),
  robot('POST', MAPS, map('b')),
  // No user may grant rights that they do not have.
  admin(
    'POST',
    `${HERE}/roles`,
    role('granter', [
      { apiGroups: [GROUP], resources: ['roles', 'rolebindings'], verbs: ['create', 'update'] },
    ]),
  ),
  admin('POST', `${HERE}/rolebindings`, binding('grants', 'granter', account)),
  robot('POST', `${HERE}/roles`, role('same', [rule(['configmaps'], ['get'])])),
  robot(
    'POST',
    `${HERE}/roles`,
    role('more', [rule(['configmaps', 'secrets'], ['get', 'create'], {}), rule(['pods'], ['*'])]),
  ),
  robot('POST', `${HERE}/rolebindings`, binding('self', 'reader', account)),
  robot('POST', `${HERE}/rolebindings`, binding('up', 'cluster-admin', account, 'ClusterRole')),
  robot('POST', `${HERE}/rolebindings`, binding('into-nothing', 'nowhere', account)),
  robot('PUT', `${HERE}/roles/same`, role('same', [rule(['secrets'], ['get'])])),
  admin(
    'POST',
    `${HERE}/roles`,
    role('binder', [
      {
        apiGroups: [GROUP],
        resources: ['clusterroles'],
        verbs: ['bind'],
        resourceNames: ['system:public-info-viewer'],
      },
    ]),
  ),
  admin('POST', `${HERE}/rolebindings`, binding('binds', 'binder', account)),
  robot(
    'POST',
    `${HERE}/rolebindings`,
    binding('looks', 'system:public-info-viewer', account, 'ClusterRole'),
  ),
  // Impersonation.
  acting({ 'impersonate-user': 'jane' }, admin('GET', MAPS)),
  acting({ 'impersonate-user': 'jane' }, robot('GET', MAPS)),
  acting({ 'impersonate-user': 'system:serviceaccount:NS:robot' }, admin('GET', MAPS)),
  acting({ 'impersonate-user': 'jane', 'impersonate-group': 'system:masters' }, admin('GET', MAPS)),
  acting({ 'impersonate-user': 'system:anonymous' }, admin('GET', '/api')),
  acting(
    { 'impersonate-user': 'jane', 'impersonate-extra-team': 'web', 'impersonate-uid': '7' },
    admin('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
    }),
  ),
  acting(
    { 'impersonate-user': 'system:serviceaccount:NS:robot' },
    admin('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
    }),
  ),
  // Access reviews.
  admin('POST', REVIEWS, review({ user: 'system:serviceaccount:NS:robot', ...mapsOf('get') })),
  admin('POST', REVIEWS, review({ user: 'system:serviceaccount:NS:robot', ...mapsOf('delete', 'mine') })),
  admin('POST', REVIEWS, review({ user: 'system:serviceaccount:NS:robot', ...mapsOf('patch') })),
  admin(
    'POST',
    REVIEWS,
    review({
      user: 'jane',
      groups: ['system:authenticated'],
      nonResourceAttributes: { path: '/api', verb: 'get' },
    }),
  ),
  admin('POST', REVIEWS, review({ user: 'jane', nonResourceAttributes: { path: '/metrics', verb: 'get' } })),
  robot('POST', REVIEWS, review({ user: 'jane', ...mapsOf('get') })),
  {
    as: 'nobody',
    method: 'POST',
    path: '/api/v1/namespaces/NS/serviceaccounts/robot/token',
    body: { spec: {} },
  },
  admin('POST', '/api/v1/namespaces/NS/serviceaccounts/missing/token', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {},
  }),
  admin('POST', '/api/v1/namespaces/NS/serviceaccounts/robot/token', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 10 },
  }),
];
