// Tokens of service accounts as a sequence of requests: their audiences, the objects they are bound to, and which token
// requests and access reviews are refused. Run on the real server and on the embedded one.

import type { Json, JsonObject } from '@lapse/kube/api/json';

export interface TokenStep {
  readonly method: string;
  readonly path: string;
  readonly body?: Json;
  /** Stores the token of the answer under this name. */
  readonly keep?: string;
  /** The value of the Authorization header; `{{name}}` is a stored token. Default: that of the administrator. */
  readonly authorization?: string;
}

const HERE = '/api/v1/namespaces/NS';
const TOKEN = `${HERE}/serviceaccounts/robot/token`;
const ISSUER = 'https://kubernetes.default.svc.cluster.local';

const post = (path: string, body: Json, more: Partial<TokenStep> = {}): TokenStep => ({
  method: 'POST',
  path,
  body,
  ...more,
});
const object = (apiVersion: string, kind: string, name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name },
  ...more,
});
const request = (spec: JsonObject, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenRequest',
  spec,
  ...more,
});
const issue = (spec: JsonObject, keep?: string): TokenStep =>
  post(TOKEN, request(spec), keep === undefined ? {} : { keep });
const bound = (kind: string, name: string, keep?: string, more: JsonObject = {}): TokenStep =>
  issue({ boundObjectRef: { apiVersion: 'v1', kind, name, ...more } }, keep);
const review = (token: string, audiences?: string[]): TokenStep =>
  post('/apis/authentication.k8s.io/v1/tokenreviews', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token, ...(audiences ? { audiences } : {}) },
  });
const AUTHORIZATION = '/apis/authorization.k8s.io/v1';
const ask = (kind: string, spec: JsonObject, more: JsonObject = {}, place = ''): TokenStep =>
  post(`${AUTHORIZATION}${place}/${kind.toLowerCase()}s`, {
    apiVersion: 'authorization.k8s.io/v1',
    kind,
    spec,
    ...more,
  });
const maps = (more: JsonObject = {}): JsonObject => ({
  resourceAttributes: { verb: 'get', resource: 'configmaps', namespace: 'NS', ...more },
});
const health = { nonResourceAttributes: { path: '/healthz', verb: 'get' } };
const whoami = (authorization: string): TokenStep =>
  post(
    '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    { authorization },
  );
const pod = (name: string, serviceAccountName: string, nodeName?: string): TokenStep =>
  post(
    `${HERE}/pods`,
    object('v1', 'Pod', name, {
      spec: {
        serviceAccountName,
        containers: [{ name: 'main', image: 'example.com/main:1' }],
        ...(nodeName === undefined ? {} : { nodeName }),
      },
    }),
  );
const gone = (path: string): TokenStep => ({ method: 'DELETE', path, body: { gracePeriodSeconds: 0 } });

export const TOKEN_STEPS: readonly TokenStep[] = [
  issue({}, 'plain'),
  whoami('Bearer {{plain}}'),
  review('{{plain}}'),
  review('{{plain}}', [ISSUER, 'others']),
  review('{{plain}}', ['others']),
  // For other audiences only: never valid here.
  issue({ audiences: ['vault', 'mail'] }, 'foreign'),
  whoami('Bearer {{foreign}}'),
  review('{{foreign}}'),
  review('{{foreign}}', ['mail', 'post']),
  issue({ audiences: ['vault', ISSUER] }, 'both'),
  whoami('Bearer {{both}}'),
  review('{{both}}', ['vault', ISSUER]),
  // Bound to an object, and invalid after its deletion.
  bound('Secret', 'missing'),
  bound('Pod', 'missing'),
  bound('Node', 'missing'),
  bound('ConfigMap', 'missing'),
  issue({ boundObjectRef: { apiVersion: 'batch/v1', kind: 'Job', name: 'x' } }),
  issue({ boundObjectRef: {} }),
  post(`${HERE}/secrets`, object('v1', 'Secret', 'vessel')),
  bound('Secret', 'vessel', undefined, { uid: '11111111-0000-4000-8000-000000000000' }),
  bound('Secret', 'vessel', 'first'),
  bound('Secret', 'vessel', 'second'),
  whoami('Bearer {{first}}'),
  gone(`${HERE}/secrets/vessel`),
  pod('other', 'default'),
  pod('mine', 'robot', 'node-of-NS'),
  bound('Pod', 'other'),
  bound('Pod', 'mine', 'pod'),
  whoami('Bearer {{pod}}'),
  post('/api/v1/nodes', object('v1', 'Node', 'node-of-NS')),
  bound('Pod', 'mine', 'third'),
  whoami('Bearer {{third}}'),
  bound('Pod', 'mine', 'fourth'),
  gone(`${HERE}/pods/mine`),
  bound('Node', 'node-of-NS', 'node'),
  whoami('Bearer {{node}}'),
  bound('Node', 'node-of-NS', 'fifth'),
  gone('/api/v1/nodes/node-of-NS'),
  whoami('Bearer {{second}}'),
  review('{{second}}'),
  whoami('Bearer {{fourth}}'),
  whoami('Bearer {{fifth}}'),
  // Invalid token requests.
  issue({ expirationSeconds: 599 }),
  issue({ expirationSeconds: 600 }),
  issue({ expirationSeconds: 4294967297 }),
  issue({ expirationSeconds: 'long' }),
  post(TOKEN, request({}, { metadata: { name: 'other' } })),
  post(TOKEN, request({}, { metadata: { namespace: 'other' } })),
  post(TOKEN, request({}, { metadata: { uid: '11111111-0000-4000-8000-000000000000' } })),
  post(TOKEN, request({}, { metadata: { name: 'robot', namespace: 'NS' } })),
  post(`${TOKEN}?fieldValidation=Strict`, request({ audience: 'one' })),
  post(`${TOKEN}?dryRun=All`, request({})),
  post(TOKEN, object('v1', 'ConfigMap', 'robot')),
  post(TOKEN, { spec: {} }),
  post(TOKEN, []),
  { method: 'GET', path: TOKEN },
  // Invalid reviews and headers.
  review(''),
  review('nonsense'),
  review('a.b.c'),
  whoami('Bearer a.b.c'),
  whoami('Bearer'),
  whoami('Basic YTpi'),
  whoami('bearer {{plain}}'),
  whoami('Bearer {{plain}} and more'),
  whoami('Bearer  {{plain}}'),
  { method: 'GET', path: HERE, authorization: 'Basic YTpi' },
  // Access reviews.
  ask('SelfSubjectRulesReview', {}),
  ask('SelfSubjectAccessReview', {}),
  ask('SelfSubjectAccessReview', health),
  ask('SelfSubjectAccessReview', { ...maps(), ...health }),
  ask('SelfSubjectAccessReview', maps(), { metadata: { name: 'named' } }),
  ask('SelfSubjectAccessReview', maps({ labelSelector: {} })),
  ask('SelfSubjectAccessReview', maps({ fieldSelector: {} })),
  ask(
    'SelfSubjectAccessReview',
    maps({ labelSelector: { rawSelector: 'a=b', requirements: [{ key: 'a' }] } }),
  ),
  ask('SelfSubjectAccessReview', maps({ labelSelector: { rawSelector: 'a=b' } })),
  ask(
    'SelfSubjectAccessReview',
    maps({ fieldSelector: { requirements: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] } }),
  ),
  ask(
    'SelfSubjectAccessReview',
    maps({
      fieldSelector: {
        requirements: [
          { key: '', operator: 'In' },
          { key: 'a', operator: 'Odd' },
        ],
      },
    }),
  ),
  ask(
    'SelfSubjectAccessReview',
    maps({ labelSelector: { requirements: [{ key: 'a b', operator: 'Exists', values: ['x'] }] } }),
  ),
  ask('SubjectAccessReview', maps()),
  ask('SubjectAccessReview', { ...maps(), user: 'jane', groups: [''] }),
  ask('SubjectAccessReview', { ...maps(), user: 'jane' }, { metadata: { labels: { a: 'b' } } }),
  ask('LocalSubjectAccessReview', { ...maps(), user: 'jane' }, {}, '/namespaces/NS'),
  ask('LocalSubjectAccessReview', { ...maps(), user: 'jane' }, { metadata: { name: 'x' } }, '/namespaces/NS'),
  ask('LocalSubjectAccessReview', { ...health, user: 'jane' }, {}, '/namespaces/NS'),
  ask('LocalSubjectAccessReview', { ...maps({ namespace: 'other' }), user: 'jane' }, {}, '/namespaces/NS'),
  ask(
    'LocalSubjectAccessReview',
    { ...maps(), user: 'jane' },
    { metadata: { namespace: 'other' } },
    '/namespaces/NS',
  ),
  // All tokens become invalid with the deletion of the account.
  issue({}, 'last'),
  gone(`${HERE}/serviceaccounts/robot`),
  whoami('Bearer {{last}}'),
];
