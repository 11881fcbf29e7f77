// The requests to webhooks and the effect of their responses. test/conformance/webhooks.test.ts has the recorded
// ones.

import type { JsonObject } from '@lapse/kube/api/json';
import { expect, test } from 'vitest';
import { CRDS_PATH, crd, GROUP, object, version, WIDGETS, widget } from '../../crd/testkit.ts';
import { withHooks } from './testkit.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const PODS = '/api/v1/namespaces/default/pods';
const map = (name: string, metadata: JsonObject = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
});
const patch = (...operations: JsonObject[]) => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});
const label = (name: string) => patch({ op: 'add', path: '/metadata/labels', value: { [name]: 'yes' } });

const FAILED = 'Internal error occurred: failed calling webhook "hook-0.example.com": ';
const INVALID = `${FAILED}received invalid webhook response: `;

test.each<[string, string, JsonObject, JsonObject, object]>([
  [
    'a denial without a message shows its reason',
    'Validating',
    {},
    { allowed: false, status: { reason: 'TooPurple', code: 409 } },
    { code: 409, message: 'admission webhook "hook-0.example.com" denied the request: TooPurple' },
  ],
  [
    'a patchType without a patch is an invalid response',
    'Mutating',
    {},
    { allowed: true, patchType: 'JSONPatch' },
    { code: 500, message: `${INVALID}webhook returned response.patchType but not response.patch` },
  ],
  [
    'a validating webhook may not return a patchType',
    'Validating',
    {},
    { allowed: true, patchType: 'JSONPatch' },
    { code: 500, message: `${INVALID}validating webhook may not return response.patchType` },
  ],
  [
    'an invalid patch is a failure',
    'Mutating',
    {},
    { allowed: true, patchType: 'JSONPatch', patch: 'e30=' },
    {
      code: 500,
      message: expect.stringContaining(`${FAILED}received undecodable patch in webhook response`),
    },
  ],
  [
    'failurePolicy Ignore ignores failures',
    'Mutating',
    { failurePolicy: 'Ignore' },
    { allowed: true, patchType: 'JSONPatch', patch: 'e30=' },
    { kind: 'ConfigMap' },
  ],
  [
    'failurePolicy Ignore does not apply to a patch that does not apply',
    'Mutating',
    { failurePolicy: 'Ignore' },
    patch({ op: 'remove', path: '/nothing' }),
    { code: 500, reason: 'InternalError' },
  ],
  [
    'a patch cannot move the object to another namespace',
    'Mutating',
    {},
    patch({ op: 'replace', path: '/metadata/namespace', value: 'other' }),
    { code: 400, message: expect.stringContaining('does not match the namespace sent on the request') },
  ],
  [
    'any 2xx status is a success',
    'Validating',
    {},
    { status: 201, response: { allowed: true } },
    { kind: 'ConfigMap' },
  ],
  [
    'a match condition with an evaluation error rejects the request',
    'Validating',
    { matchConditions: [{ name: 'x', expression: 'object.data.missing == "x"' }] },
    { allowed: true },
    {
      code: 403,
      message: expect.stringContaining(
        `configmaps "a" is forbidden: expression 'object.data.missing == "x"' resulted in error: `,
      ),
      details: { name: 'a', kind: 'configmaps' },
    },
  ],
  [
    'with failurePolicy Ignore, an evaluation error skips the webhook',
    'Validating',
    { matchConditions: [{ name: 'x', expression: 'object.data.missing == "x"' }], failurePolicy: 'Ignore' },
    { allowed: false },
    { kind: 'ConfigMap' },
  ],
])('%s', async (_, phase, more, answer, expected) => {
  const { api } = await withHooks({ '/': answer }, { phase, at: '/', ...more });
  expect((await api.post(MAPS, map('a'))).body).toMatchObject(expected);
  expect(api.unexpected).toEqual([]);
  await api.close();
});

test('the timeout of a webhook includes reading its response', async () => {
  const { api } = await withHooks({ '/': 'silence' }, { at: '/', timeoutSeconds: 3 });
  const answer = api.post(MAPS, map('a'));
  await api.settle();
  await api.wait(3);
  const { status, body } = await answer;
  const why = 'failed to call webhook: Post "https://hooks/?timeout=3s": context deadline exceeded';
  expect([status, body['message']]).toEqual([500, FAILED + why]);
  await api.close();
});

test('a webhook cannot patch a DELETE', async () => {
  const { api } = await withHooks(
    { '/': label('x') },
    { at: '/', rules: [{ operations: ['DELETE'], apiGroups: [''], apiVersions: ['v1'], resources: ['*'] }] },
  );
  await api.post(MAPS, map('a'));
  expect((await api.delete(`${MAPS}/a`)).body).toMatchObject({
    code: 500,
    message:
      'Internal error occurred: admission webhook "hook-0.example.com" attempted to modify the object, which is not supported for this operation',
  });
  await api.close();
});

const IF_NEEDED = { reinvocationPolicy: 'IfNeeded' };
const LABELLED = { objectSelector: { matchLabels: { late: 'yes' } } };

test.each<[string, JsonObject, JsonObject, string[]]>([
  ['after a change', { ...IF_NEEDED }, label('late'), ['/first', '/second', '/first']],
  [
    'not after a patch that changed nothing',
    { ...IF_NEEDED },
    patch({ op: 'test', path: '/kind', value: 'ConfigMap' }),
    ['/first', '/second'],
  ],
  ['not when it was not called before', { ...IF_NEEDED, ...LABELLED }, label('late'), ['/second']],
  ['not with reinvocationPolicy Never', {}, label('late'), ['/first', '/second']],
])('reinvocation of a webhook: %s', async (_, first, second, expected) => {
  const { api, asked } = await withHooks(
    { '/first': { allowed: true }, '/second': second },
    { at: '/first', ...first },
    { at: '/second' },
  );
  expect((await api.post(MAPS, map('a'))).status).toBe(201);
  expect(asked.map(({ at }) => at)).toEqual(expected);
  await api.close();
});

test('built-in admission runs again when a webhook changed the object', async () => {
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }];
  const critical = { op: 'add', path: '/spec/priorityClassName', value: 'system-cluster-critical' };
  const { api } = await withHooks({ '/': patch(critical) }, { at: '/', rules });
  expect((await api.post(PODS, pod)).body).toMatchObject({
    code: 403,
    message: expect.stringContaining('the integer value of priority (0) must not be provided in pod spec'),
  });
  await api.close();
});

test('a webhook gets the options of the request', async () => {
  const { api, asked } = await withHooks({ '/': { allowed: true } }, { at: '/', phase: 'Validating' });
  const { body } = await api.post(`${MAPS}?fieldManager=me&fieldValidation=Strict`, map('a'));
  const { resourceVersion } = body['metadata'] as { resourceVersion: string };
  const deletion = { propagationPolicy: 'Foreground', preconditions: { resourceVersion } };
  await api.ask('DELETE', `${MAPS}/a`, { kind: 'DeleteOptions', apiVersion: 'v1', ...deletion });
  const apiVersion = 'meta.k8s.io/v1';
  expect(asked.map((request) => request['options'])).toEqual([
    { kind: 'CreateOptions', apiVersion, fieldManager: 'me', fieldValidation: 'Strict' },
    { kind: 'DeleteOptions', apiVersion, ...deletion },
  ]);
  await api.close();
});

test('a webhook for scales sees a Scale and may change it', async () => {
  const rules = [{ operations: ['*'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['*/scale'] }];
  const { api, asked } = await withHooks(
    { '/': patch({ op: 'replace', path: '/spec/replicas', value: 5 }) },
    { at: '/', rules },
  );
  const path = '/apis/apps/v1/namespaces/default/replicasets';
  const labels = { app: 'x' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  await api.post(path, { metadata: { name: 'r' }, spec: { selector: { matchLabels: labels }, template } });
  const scale = {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name: 'r' },
    spec: { replicas: 2 },
  };
  expect((await api.put(`${path}/r/scale`, scale)).body).toMatchObject({
    kind: 'Scale',
    spec: { replicas: 5 },
  });
  expect((await api.get(`${path}/r`)).body).toMatchObject({ spec: { replicas: 5, template: {} } });
  expect(asked).toMatchObject([
    {
      operation: 'UPDATE',
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      resource: { group: 'apps', version: 'v1', resource: 'replicasets' },
      subResource: 'scale',
      object: { kind: 'Scale', spec: { replicas: 2 } },
      oldObject: { kind: 'Scale', spec: { replicas: 1 } },
    },
  ]);
  await api.close();
});

test('a webhook for another version sees the object in that version, and its patch is converted back', async () => {
  const rules = [{ operations: ['*'], apiGroups: [GROUP], apiVersions: ['v2'], resources: ['widgets'] }];
  const { api, asked } = await withHooks(
    { '/': patch({ op: 'replace', path: '/spec/size', value: 7 }), '/exact': { allowed: false } },
    { at: '/', rules },
    { at: '/exact', rules, matchPolicy: 'Exact' },
  );
  const schema = object({ spec: object({ size: { type: 'integer' } }) });
  const versions = [version('v1', schema, { storage: true }), version('v2', schema)];
  await api.post(CRDS_PATH, crd({ versions }));
  await api.settle();
  const { body } = await api.post(WIDGETS, widget('a', { spec: { size: 1 } }));
  expect(body).toMatchObject({ apiVersion: `${GROUP}/v1`, spec: { size: 7 } });
  const of = (name: string) => ({ group: GROUP, version: name });
  expect(asked).toMatchObject([
    {
      kind: { ...of('v2'), kind: 'Widget' },
      resource: { ...of('v2'), resource: 'widgets' },
      requestKind: { ...of('v1'), kind: 'Widget' },
      requestResource: { ...of('v1'), resource: 'widgets' },
      object: { apiVersion: `${GROUP}/v2`, spec: { size: 1 } },
    },
  ]);
  await api.close();
});

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'c', image: 'i' }] },
};
const named = (kind: string, apiVersion: string, more = {}) => ({
  kind,
  apiVersion,
  metadata: { name: 'p' },
  ...more,
});

test.each([
  ['binding', named('Binding', 'v1', { target: { name: 'n' } }), { group: '', version: 'v1' }],
  ['eviction', named('Eviction', 'policy/v1'), { group: 'policy', version: 'v1' }],
])('a webhook for pods/%s is called for that subresource only', async (what, body, gv) => {
  const rules = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: [`pods/${what}`] }];
  const { api, asked } = await withHooks({ '/': { allowed: true } }, { at: '/', phase: 'Validating', rules });
  await api.post(PODS, pod);
  expect((await api.post(`${PODS}/p/${what}`, body)).status).toBe(201);
  expect(asked).toMatchObject([
    {
      operation: 'CREATE',
      kind: { ...gv, kind: body.kind },
      subResource: what,
      name: 'p',
      object: { kind: body.kind },
    },
  ]);
  await api.close();
});

test.each([
  ['pods/p/eviction', named('Eviction', 'policy/v1'), 'pods "p"'],
  ['pods/p/binding', named('Binding', 'v1', { target: { name: 'n' } }), 'pods "p"'],
  [
    'configmaps',
    { kind: 'ConfigMap', apiVersion: 'v1', metadata: { generateName: 'g-' } },
    'configmaps "g-"',
  ],
])('a terminating namespace rejects %s', async (path, body, who) => {
  const { api } = await withHooks({});
  await api.post('/api/v1/namespaces', { metadata: { name: 'leaving' } });
  await api.post('/api/v1/namespaces/leaving/pods', pod);
  await api.delete('/api/v1/namespaces/leaving');
  expect((await api.post(`/api/v1/namespaces/leaving/${path}`, body)).body).toMatchObject({
    code: 403,
    message: `${who} is forbidden: unable to create new content in namespace leaving because it is being terminated`,
    details: { causes: [{ reason: 'NamespaceTerminating' }] },
  });
  await api.close();
});
