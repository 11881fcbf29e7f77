import { expect, test } from 'vitest';
import { tokenAuthenticator } from '../authn/auth.ts';
import { createServer } from '../server.ts';

const ann = { username: 'ann', uid: 'u1', groups: ['dev', 'system:authenticated'] };

async function ask(path: string, kind: string, spec: object, token = 't') {
  const server = await createServer({ authenticator: tokenAuthenticator(new Map([['t', ann]])) });
  const answer = await server.handle({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
    body: Buffer.from(JSON.stringify({ kind, spec })),
  });
  const revision = server.revision();
  await server.close();
  return {
    status: answer.status,
    body: JSON.parse(Buffer.from(answer.body as Uint8Array).toString()),
    revision,
  };
}

const AUTHZ = '/apis/authorization.k8s.io/v1';
const AUTHN = '/apis/authentication.k8s.io/v1';
const get = { resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'default' } };

test('with AlwaysAllow a review allows everything to an authenticated user', async () => {
  const { status, body } = await ask(`${AUTHZ}/selfsubjectaccessreviews`, 'SelfSubjectAccessReview', get);
  expect([status, body.status]).toEqual([201, { allowed: true }]);
});

test('a review denies the anonymous user', async () => {
  const spec = { ...get, user: 'system:anonymous' };
  expect((await ask(`${AUTHZ}/subjectaccessreviews`, 'SubjectAccessReview', spec)).body.status.allowed).toBe(
    false,
  );
});

test('rejects a review without a token', async () => {
  expect((await ask(`${AUTHZ}/selfsubjectaccessreviews`, 'SelfSubjectAccessReview', get, '')).status).toBe(
    403,
  );
});

test.each([
  [
    'selfsubjectaccessreviews',
    'SelfSubjectAccessReview',
    {},
    /exactly one of nonResourceAttributes or resourceAttributes/,
  ],
  ['subjectaccessreviews', 'SubjectAccessReview', get, /at least one of user or group must be specified/],
  [
    'namespaces/other/localsubjectaccessreviews',
    'LocalSubjectAccessReview',
    { ...get, user: 'x' },
    /must match metadata.namespace/,
  ],
])('%s rejects an invalid spec', async (path, kind, spec, message) => {
  const { status, body } = await ask(`${AUTHZ}/${path}`, kind, spec);
  expect([status, body.message]).toEqual([422, expect.stringMatching(message)]);
});

test('a TokenReview does not return the token', async () => {
  const known = await ask(`${AUTHN}/tokenreviews`, 'TokenReview', { token: 't' });
  expect(known.body.status).toEqual({
    authenticated: true,
    user: ann,
    audiences: ['https://kubernetes.default.svc.cluster.local'],
  });
  const unknown = await ask(`${AUTHN}/tokenreviews`, 'TokenReview', { token: 'x' });
  expect(unknown.body.status.authenticated).toBeUndefined();
});

test('without an authenticator, a TokenReview still accepts tokens issued by the server', async () => {
  const server = await createServer();
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    const bytes = Buffer.from(JSON.stringify(body));
    const answer = await server.handle({ method: 'POST', path, headers, body: bytes });
    return JSON.parse(Buffer.from(answer.body as Uint8Array).toString());
  };
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  await post(accounts, { metadata: { name: 'robot' } });
  const { token } = (await post(`${accounts}/robot/token`, { spec: {} })).status;
  const known = await post(`${AUTHN}/tokenreviews`, { spec: { token } });
  expect(known.status).toMatchObject({
    authenticated: true,
    user: { username: 'system:serviceaccount:default:robot' },
  });
  const unknown = await post(`${AUTHN}/tokenreviews`, { spec: { token: 'x' } });
  expect(unknown.status).toEqual({ user: {}, error: 'invalid bearer token' });
  await server.close();
});

test('a SelfSubjectReview returns the user', async () => {
  expect((await ask(`${AUTHN}/selfsubjectreviews`, 'SelfSubjectReview', {})).body.status.userInfo).toEqual(
    ann,
  );
});
