// The order in which a token request is validated.

import type { AdmissionRequest } from '@lapse/kube/api/admission';
import type { JsonObject } from '@lapse/kube/api/json';
import { expect, test } from 'vitest';
import { createServer } from '../server.ts';
import { ISSUER } from './accountTokens.ts';

async function asked(spec: JsonObject, { refuses = false } = {}) {
  const server = await createServer();
  const reviewed: AdmissionRequest[] = [];
  server.admit({
    name: 'judge',
    resources: ['serviceaccounts/token'],
    phase: 'validating',
    review: (request) => {
      reviewed.push(request);
      return refuses ? { allowed: false, message: 'not today' } : { allowed: true };
    },
  });
  const post = async (path: string, body: JsonObject) => {
    const answer = await server.handle({
      method: 'POST',
      path,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(body)),
    });
    return { status: answer.status, body: JSON.parse(Buffer.from(answer.body as Uint8Array).toString()) };
  };
  await post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } });
  const answer = await post('/api/v1/namespaces/default/serviceaccounts/robot/token', { spec });
  await server.close();
  return { ...answer, reviewed };
}

test('validates a token request before admission', async () => {
  const { status, reviewed } = await asked({ expirationSeconds: 10 }, { refuses: true });
  expect([status, reviewed.length]).toEqual([422, 0]);
});

test('looks up the bound object after admission', async () => {
  const bound = { boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 'missing' } };
  expect((await asked(bound, { refuses: true })).body.message).toContain('not today');
  expect((await asked(bound)).status).toBe(404);
});

test('admission sees the request with defaults and without a token', async () => {
  const { body, reviewed } = await asked({});
  expect(reviewed[0]!.object).toMatchObject({
    metadata: { name: 'robot', namespace: 'default', uid: body.metadata.uid },
    spec: { audiences: [ISSUER], expirationSeconds: 3600 },
    status: { token: '' },
  });
});
