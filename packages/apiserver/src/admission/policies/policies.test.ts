// Policies on the embedded server, in addition to the comparison with kube-apiserver in test/conformance/policies:
// webhooks before policies, custom resources, and hostile policies.

import { nextTurn } from '@lapse/base/turn';
import type { JsonObject } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import {
  CRDS_PATH,
  crd,
  startServer,
  type TestServer,
  GROUP as TOYS,
  WIDGETS,
  widget,
} from '../../crd/testkit.ts';
import { withHooks } from '../webhooks/testkit.ts';

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const MAPS = '/api/v1/namespaces/default/configmaps';
const RULE = { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] };
const map = (name: string, more: JsonObject = {}): JsonObject => ({ metadata: { name, ...more } });

async function enforce(api: TestServer, spec: JsonObject, binding: JsonObject = {}): Promise<void> {
  const policy = { metadata: { name: 'p' }, spec: { matchConstraints: { resourceRules: [RULE] }, ...spec } };
  expect((await api.post(`${GROUP}/validatingadmissionpolicies`, policy)).status).toBe(201);
  const bound = { policyName: 'p', validationActions: ['Deny'], ...binding };
  const answer = await api.post(`${GROUP}/validatingadmissionpolicybindings`, {
    metadata: { name: 'b' },
    spec: bound,
  });
  expect(answer.status).toBe(201);
}

const validations = (...expressions: string[]) => ({
  validations: expressions.map((expression) => ({ expression })),
});

test('a policy sees the object after mutating webhooks, and its denial skips validating webhooks', async () => {
  const value = Buffer.from(JSON.stringify([{ op: 'add', path: '/data', value: { k: 'v' } }]));
  const patch = { allowed: true, patchType: 'JSONPatch', patch: value.toString('base64') };
  const { api, asked } = await withHooks(
    { '/mutate': patch, '/validate': { allowed: true } },
    { at: '/mutate' },
    { at: '/validate', phase: 'Validating' },
  );
  await enforce(api, validations('!has(object.data)'));
  expect((await api.post(MAPS, map('a'))).status).toBe(422);
  expect(asked.map(({ at }) => at)).toEqual(['/mutate']);
});

describe('custom resources', () => {
  const withWidgets = async (): Promise<TestServer> => {
    const api = await startServer();
    await api.post(CRDS_PATH, crd());
    await api.wait(10);
    expect((await api.post(WIDGETS, widget('w', { spec: { size: 1 } }))).status).toBe(201);
    return api;
  };

  test('custom resources can be parameters', async () => {
    const api = await withWidgets();
    await enforce(
      api,
      {
        paramKind: { apiVersion: `${TOYS}/v1`, kind: 'Widget' },
        ...validations('size(object.metadata.name) <= params.spec.size'),
      },
      { paramRef: { name: 'w', parameterNotFoundAction: 'Deny' } },
    );
    expect((await api.post(MAPS, map('a'))).status).toBe(201);
    expect((await api.post(MAPS, map('bb'))).status).toBe(422);
  });

  test('policies apply to custom resources', async () => {
    const api = await withWidgets();
    const rule = { ...RULE, apiGroups: [TOYS], resources: ['widgets'] };
    await enforce(api, {
      matchConstraints: { resourceRules: [rule] },
      ...validations('object.spec.size < 5'),
    });
    expect((await api.post(WIDGETS, widget('m', { spec: { size: 4 } }))).status).toBe(201);
    expect((await api.post(WIDGETS, widget('n', { spec: { size: 5 } }))).status).toBe(422);
  });
});

describe('hostile policies', () => {
  test('a policy cannot deny the deletion of policies', async () => {
    const api = await startServer();
    const all = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] };
    await enforce(api, { matchConstraints: { resourceRules: [all] }, ...validations('false') });
    expect((await api.post(MAPS, map('a'))).status).toBe(422);
    expect((await api.delete(`${GROUP}/validatingadmissionpolicybindings/b`)).status).toBe(200);
    expect((await api.post(MAPS, map('a'))).status).toBe(201);
    expect((await api.delete(`${GROUP}/validatingadmissionpolicies/p`)).status).toBe(200);
  });

  test('variables can have the names of prototype properties', async () => {
    const api = await startServer();
    const names = ['constructor', 'toString', '__proto__', 'opaqueType'];
    await enforce(api, {
      variables: names.map((name) => ({ name, expression: `"${name}"` })),
      ...validations(...names.map((name) => `variables.${name} == "${name}"`)),
    });
    expect((await api.post(MAPS, map('a'))).status).toBe(201);
  });

  test('other requests run while a policy is evaluated for many parameters', async () => {
    const api = await startServer();
    for (let i = 0; i < 5; i++) await api.post(MAPS, map(`p${i}`, { labels: { param: 'yes' } }));
    await enforce(
      api,
      { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, ...validations('params.metadata.name != "x"') },
      { paramRef: { selector: { matchLabels: { param: 'yes' } }, parameterNotFoundAction: 'Deny' } },
    );
    let hadTurn = false;
    const turn = nextTurn().then(() => {
      hadTurn = true;
    });
    expect((await api.post(MAPS, map('slow'))).status).toBe(201);
    expect(hadTurn).toBe(true);
    await turn;
  });
});
