// Differences from kube-apiserver that random request sequences found, one row each: a request for a ConfigMap (or
// another kind) named `a`, and the response of kube-apiserver.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CRDS_PATH, crd, object, startServer, type TestServer, WIDGETS, widget } from '../crd/testkit.ts';

const NS = '/api/v1/namespaces';
const MAPS = `${NS}/default/configmaps`;
const ROLES = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const HOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
const UID = '00000000-0000-0000-0000-000000000000';
const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const APPLY = 'application/apply-patch+yaml';

let api: TestServer;
beforeAll(async () => {
  api = await startServer();
  await api.post(MAPS, map('a'));
  const text = { type: 'string', format: 'date-time' };
  const spec = object(
    { either: { 'x-kubernetes-int-or-string': true }, text, size: { type: 'integer' } },
    { 'x-kubernetes-validations': [{ rule: 'true' }] },
  );
  await api.post(CRDS_PATH, crd({ spec, v1: { subresources: { status: {} } } }));
  await api.settle();
  await api.post(WIDGETS, widget('a'));
});
afterAll(async () => {
  expect(api.unexpected).toEqual([]);
  await api.close();
});

const map = (name: string, metadata = {}, more = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  ...more,
});
const lease = (metadata = {}) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'l', ...metadata },
});
const hooks = (expression: string) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'h' },
  webhooks: [
    {
      name: 'a.b.c',
      clientConfig: { url: 'https://x' },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      matchConditions: [{ name: 'x', expression }],
    },
  ],
});

type Row = readonly [rule: string, method: string, path: string, body: unknown, type: string, answer: object];

const ROWS: readonly Row[] = [
  ['does not parse the patch for a missing object', 'PATCH', `${MAPS}/none`, '{', MERGE, { code: 404 }],
  [
    'a merge patch that is null',
    'PATCH',
    `${MAPS}/a`,
    'null',
    MERGE,
    { code: 400, message: 'Invalid JSON Patch' },
  ],
  [
    'a strategic patch that is a list',
    'PATCH',
    `${MAPS}/a`,
    '[]',
    STRATEGIC,
    { code: 400, message: 'json: cannot unmarshal array into Go value of type map[string]interface {}' },
  ],
  [
    'the error for a strategic patch of a wrong type quotes the patch',
    'PATCH',
    `${MAPS}/a`,
    { metadata: { labels: [] } },
    STRATEGIC,
    {
      code: 422,
      message:
        ' "" is invalid: patch: Invalid value: "map[metadata:map[labels:[]]]": cannot restore map from slice',
    },
  ],
  [
    'an apply that is a list',
    'PATCH',
    `${MAPS}/a?fieldManager=x`,
    '[]',
    APPLY,
    {
      code: 400,
      message:
        'error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}',
    },
  ],
  [
    'an apply that cannot be converted',
    'PATCH',
    '/api/v1/namespaces/default/persistentvolumeclaims/c?fieldManager=x',
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'c' },
      spec: { resources: { requests: { storage: 'x' } } },
    },
    APPLY,
    {
      code: 500,
      message:
        "failed to convert new object (/c; /v1, Kind=PersistentVolumeClaim) to proper version: unable to convert unstructured object to /v1, Kind=PersistentVolumeClaim: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    },
  ],
  [
    'an apply accepts any value for int-or-string, and the schema rejects it',
    'PATCH',
    `${WIDGETS}/b?fieldManager=x`,
    widget('b', { spec: { either: ['a'] } }),
    APPLY,
    { code: 422 },
  ],
  [
    'an apply accepts any scalar for a string with a format',
    'PATCH',
    `${WIDGETS}/b?fieldManager=x`,
    widget('b', { spec: { text: { a: 1 } } }),
    APPLY,
    {
      code: 500,
      message:
        'failed to create typed patch object (/b; toys.example.com/v1, Kind=Widget): .spec.text: expected any scalar, got &{map[a:1]}',
    },
  ],
  [
    'a PUT that would create rejects a uid',
    'PUT',
    `${LEASES}/l`,
    lease({ uid: UID }),
    '',
    {
      code: 409,
      message: `Operation cannot be fulfilled on leases.coordination.k8s.io "l": StorageError: invalid object, Code: 4, Key: /registry/leases/default/l, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${UID}, UID in object meta: `,
    },
  ],
  [
    'a PUT of a kind that it cannot create ignores the uid',
    'PUT',
    `${MAPS}/n`,
    map('n', { uid: UID }),
    '',
    { code: 404 },
  ],
  [
    'an existing name together with generateName',
    'POST',
    MAPS,
    map('a', { generateName: 'g-' }),
    '',
    {
      code: 409,
      message:
        'configmaps "a" already exists, the server was not able to generate a unique name for the object',
      details: { name: 'a', kind: 'configmaps', retryAfterSeconds: 1 },
    },
  ],
  [
    'another kind',
    'POST',
    MAPS,
    { ...map('x'), kind: 'Odd' },
    '',
    {
      code: 400,
      message:
        'Odd in version "v1" cannot be handled as a ConfigMap: no kind "Odd" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
    },
  ],
  [
    'a condition that cannot be compiled',
    'POST',
    HOOKS,
    hooks('Odd'),
    '',
    {
      code: 422,
      message:
        'ValidatingWebhookConfiguration.admissionregistration.k8s.io "h" is invalid: webhooks[0].matchConditions[0].expression: Invalid value: "Odd": compilation failed: ERROR: <input>:1:1: undeclared reference to \'Odd\' (in container \'\')\n | Odd\n | ^',
    },
  ],
  [
    'accepts a match condition about authorization',
    'POST',
    `${HOOKS}?dryRun=All`,
    hooks("authorizer.path('/').check('get').allowed()"),
    '',
    { kind: 'ValidatingWebhookConfiguration' },
  ],
  [
    'reports an invalid selector before incompatible options',
    'GET',
    `${MAPS}?labelSelector=a%20b&resourceVersionMatch=Odd`,
    undefined,
    '',
    { code: 400 },
  ],
  [
    'names an unexpected character in a selector by its number',
    'GET',
    `${MAPS}?fieldSelector=a%3Db%3Dc`,
    undefined,
    '',
    { code: 400, message: 'invalid field selector: unescaped character in value: 61' },
  ],
  [
    'an empty key compared with an empty value selects everything',
    'GET',
    `${MAPS}?fieldSelector=%3D`,
    undefined,
    '',
    { kind: 'ConfigMapList' },
  ],
  [
    'reports every invalid option of a patch',
    'PATCH',
    `${MAPS}/a?force=true&fieldValidation=Odd`,
    {},
    MERGE,
    { code: 422, details: { causes: [{ field: 'fieldValidation' }, { field: 'force' }] } },
  ],
  [
    'reports both errors of a propagation policy',
    'DELETE',
    `${MAPS}/a`,
    { propagationPolicy: 'Odd', orphanDependents: true },
    '',
    {
      code: 422,
      details: { causes: [{ reason: 'FieldValueInvalid' }, { reason: 'FieldValueNotSupported' }] },
    },
  ],
  [
    'ignores path segments after a subresource of a custom resource',
    'GET',
    `${WIDGETS}/a/status/more`,
    undefined,
    '',
    { kind: 'Widget' },
  ],
  [
    'does not evaluate rules for an object without a name',
    'POST',
    WIDGETS,
    { ...widget(''), metadata: {}, spec: {} },
    '',
    { code: 422, details: { causes: [{ field: 'metadata.name' }, { field: '<nil>' }] } },
  ],
];

describe('responses equal to kube-apiserver', () => {
  test.each(ROWS)('%s', async (_, method, path, body, type, answer) => {
    const headers: Record<string, string> = type === '' ? {} : { 'content-type': type };
    expect((await api.ask(method, path, body, headers)).body).toMatchObject(answer);
  });

  test('a creating apply may set deletion fields that a POST may not', async () => {
    const gone = { deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 5 };
    const posted = await api.post(MAPS, map('posted', gone));
    expect(posted.body['metadata']).not.toHaveProperty('deletionTimestamp');
    const headers = { 'content-type': APPLY };
    const applied = await api.ask('PATCH', `${MAPS}/applied?fieldManager=x`, map('applied', gone), headers);
    expect(applied.body['metadata']).toMatchObject(gone);
  });

  test('the writer owns an empty list that Go writes as null', async () => {
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'r' },
      rules: [],
    };
    const { body } = await api.post(ROLES, role);
    expect(body).toMatchObject({
      rules: null,
      metadata: { managedFields: [{ fieldsV1: { 'f:rules': {} } }] },
    });
  });

  test('a deleted object in a response has the resourceVersion of its deletion', async () => {
    const path = '/apis/storage.k8s.io/v1/storageclasses';
    const made = {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 's' },
      provisioner: 'p',
    };
    const version = ({ body }: { body: object }) =>
      Number((body as { metadata: { resourceVersion: string } }).metadata.resourceVersion);
    const created = version(await api.post(path, made));
    expect(version(await api.delete(`${path}/s`))).toBeGreaterThan(created);
  });

  test('rejects a CRD with a default that violates its own rule', async () => {
    const size = { type: 'integer', default: 9, 'x-kubernetes-validations': [{ rule: 'self < 6' }] };
    const { body } = await api.post(`${CRDS_PATH}?dryRun=All`, crd({ spec: object({ size }) }));
    expect(body).toMatchObject({
      code: 422,
      details: {
        causes: [
          {
            field: 'spec.validation.openAPIV3Schema.properties[spec].properties[size].default',
            message: 'Invalid value: 9: failed rule: self < 6',
          },
        ],
      },
    });
  });

  test('rejects a CRD with a default that violates a nested rule', async () => {
    const inner = { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self < 6' }] };
    const size = object({ inner }, { default: { inner: 9 } });
    const { body } = await api.post(`${CRDS_PATH}?dryRun=All`, crd({ spec: object({ size }) }));
    expect(body).toMatchObject({
      code: 422,
      details: { causes: [{ message: 'Invalid value: 9: failed rule: self < 6' }] },
    });
  });

  test('a Namespace keeps the finalizer of its propagation policy', async () => {
    await api.post(NS, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } });
    const { body } = await api.ask('DELETE', `${NS}/n`, { propagationPolicy: 'Foreground' });
    expect(body).toMatchObject({ metadata: { finalizers: ['foregroundDeletion'] } });
  });

  test('a dry run of an events.k8s.io Event keeps all fields', async () => {
    const path = '/apis/events.k8s.io/v1/namespaces/default/events';
    const event = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'e' },
      eventTime: '2024-01-01T00:00:00.000000Z',
      action: 'a',
      reason: 'r',
      type: 'Normal',
      reportingController: 'example.com/test',
      reportingInstance: 'i',
      regarding: { kind: 'Pod', namespace: 'default', name: 'a' },
    };
    await api.post(path, event);
    const { body } = await api.patch(`${path}/e?dryRun=All`, { metadata: { labels: { a: 'b' } } });
    expect(body).toMatchObject({ regarding: { name: 'a' }, metadata: { labels: { a: 'b' } } });
  });
});
