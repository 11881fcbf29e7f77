import { createServer } from '@lapse/apiserver/server';
import { millis } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import { VirtualClock } from '@lapse/base/virtualClock';
import type { JsonObject } from '@lapse/kube/api/json';
import fc from 'fast-check';
import { applyPatch, type Operation } from 'fast-json-patch';
import { describe, expect, test } from 'vitest';
import { Registry } from '../metrics/registry.ts';
import { buildJsonPatch } from './jsonPatch.ts';
import type { Peer } from './peer.ts';
import type { AdmissionFunction, AdmissionRequest, AdmissionResponse } from './review.ts';
import { reviewPath as pathOf } from './reviewPaths.ts';
import { type Callers, webhookHandler } from './webhook.ts';

const object = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'a', namespace: 'n' },
  spec: { x: 1 },
};
const request = (more: object = {}) => ({
  uid: 'u-1',
  kind: { group: 'batch', version: 'v1', kind: 'Job' },
  resource: { group: 'batch', version: 'v1', resource: 'jobs' },
  name: 'a',
  namespace: 'n',
  operation: 'CREATE',
  userInfo: { username: 'alice', groups: ['dev'] },
  object,
  oldObject: null,
  dryRun: false,
  ...more,
});
const review = (more: object = {}, top: object = {}) => ({
  kind: 'AdmissionReview',
  apiVersion: 'admission.k8s.io/v1',
  request: request(more),
  ...top,
});

const SECRET = 'c2VjcmV0';
const reviewPath = (name: string) => pathOf(name, SECRET);
const peer: Peer = { verified: false, headers: () => [], headerNames: () => [] };
const bySecret: Callers = { paths: { accepted: () => ['other', SECRET], refreshSoon: () => {} } };

function setup(
  reviewFunction: (request: AdmissionRequest) => Promise<AdmissionResponse> | AdmissionResponse,
  phase: AdmissionFunction['phase'] = 'validating',
) {
  const clock = new VirtualClock();
  const registry = new Registry();
  const fn: AdmissionFunction = {
    name: 'jobs',
    resources: ['jobs.batch', 'jobs.batch/status'],
    phase,
    review: reviewFunction,
  };
  const { handle } = webhookHandler({
    functions: [fn],
    clock,
    log: silentLog,
    registry,
    callers: bySecret,
  });
  return {
    clock,
    registry,
    send: async (body: unknown, path = reviewPath('jobs'), method = 'POST') => {
      const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
      const answer = await handle({ method, path, headers: {}, body: bytes }, peer);
      const words = Buffer.from(answer.body as Uint8Array).toString();
      return {
        status: answer.status,
        words,
        response: answer.status === 200 ? JSON.parse(words).response : undefined,
      };
    },
  };
}

describe('admission responses', () => {
  test('allows a request with warnings and echoes the uid', async () => {
    const s = setup(() => ({ allowed: true, warnings: ['old'] }));
    const { response } = await s.send(review(), `${reviewPath('jobs')}?timeout=10s`);
    expect(response).toEqual({ uid: 'u-1', allowed: true, warnings: ['old'] });
  });

  test('denies a request with causes and field paths', async () => {
    const details = { causes: [{ reason: 'FieldValueInvalid', message: 'no', field: 'spec.ttl' }] };
    const s = setup(() => ({
      allowed: false,
      message: 'spec.ttl: no',
      code: 422,
      reason: 'Invalid',
      details,
    }));
    expect((await s.send(review())).response).toEqual({
      uid: 'u-1',
      allowed: false,
      status: { status: 'Failure', message: 'spec.ttl: no', reason: 'Invalid', code: 422, details },
    });
  });

  test('passes the complete request to the admission function', async () => {
    let seen: AdmissionRequest | undefined;
    const s = setup((r) => {
      seen = r;
      return { allowed: true };
    });
    await s.send(
      review({
        operation: 'UPDATE',
        subResource: 'status',
        oldObject: object,
        dryRun: true,
        options: { a: 1 },
      }),
    );
    expect(seen).toMatchObject({
      operation: 'UPDATE',
      subResource: 'status',
      dryRun: true,
      oldObject: object,
      options: { a: 1 },
      userInfo: { username: 'alice' },
    });
  });

  test('returns a mutation as a JSON patch', async () => {
    const s = setup(
      () => ({
        allowed: true,
        object: {
          ...object,
          spec: { x: 1, ttl: 5 },
          metadata: { ...object.metadata, labels: { 'a/b': 'c' } },
        },
      }),
      'mutating',
    );
    const { response } = await s.send(review());
    expect(response.patchType).toBe('JSONPatch');
    expect(JSON.parse(Buffer.from(response.patch, 'base64').toString())).toEqual([
      { op: 'add', path: '/metadata/labels', value: { 'a/b': 'c' } },
      { op: 'add', path: '/spec/ttl', value: 5 },
    ]);
  });

  test('returns no patch when nothing changed', async () => {
    const s = setup((r) => ({ allowed: true, object: r.object! }), 'mutating');
    expect((await s.send(review())).response).toEqual({ uid: 'u-1', allowed: true });
  });

  test('allows a resource that the function does not review', async () => {
    const s = setup(() => ({ allowed: false, message: 'x' }));
    const resource = { group: 'apps', version: 'v1', resource: 'deployments' };
    expect((await s.send(review({ resource }))).response.allowed).toBe(true);
  });
});

describe('invalid webhook calls', () => {
  const s = setup(() => ({ allowed: true }));
  test.each<[string, unknown, number, RegExp]>([
    ['returns 400 for an empty body', '', 400, /JSON/],
    ['returns 400 for a body that is not JSON', 'hello', 400, /JSON/],
    ['returns 400 for another kind', { kind: 'Pod' }, 400, /not an AdmissionReview/],
    [
      'returns 400 for an old version of AdmissionReview',
      review({}, { apiVersion: 'admission.k8s.io/v1beta1' }),
      400,
      /v1beta1 is not supported/,
    ],
    ['returns 400 without a request', review({}, { request: null }), 400, /no request/],
    ['returns 400 without a uid', review({ uid: '' }), 400, /uid is missing/],
    ['returns 400 for CONNECT', review({ operation: 'CONNECT' }), 400, /"CONNECT" is not handled/],
    ['returns 400 without a resource', review({ resource: {} }), 400, /resource is incomplete/],
    ['returns 400 without a user', review({ userInfo: null }), 400, /userInfo is incomplete/],
    ['returns 400 for too many values', `[${'[],'.repeat(400_000)}[]]`, 400, /more than 400000 values/],
    [
      'returns 400 for an object that is not a JSON object',
      review({ object: 'x' }),
      400,
      /object is not an object/,
    ],
  ])('%s', async (_what, body, status, words) => {
    const answer = await s.send(body);
    expect([answer.status, words.test(answer.words)]).toEqual([status, true]);
  });

  test('rejects other paths and methods', async () => {
    expect((await s.send(review(), '/')).status).toBe(404);
    expect((await s.send(review(), reviewPath('jobs'), 'GET')).status).toBe(405);
  });

  test('returns an HTTP error without details when a function throws', async () => {
    const broken = setup(() => {
      throw new Error('secret detail');
    });
    expect(await broken.send(review())).toMatchObject({ status: 500, words: 'the review failed\n' });
    expect(broken.registry.text()).toContain('lapse_webhook_reviews_total{webhook="jobs",result="error"} 1');
  });

  test('times out after ten seconds when a function does not return', async () => {
    const slow = setup(() => new Promise(() => {}));
    const answer = slow.send(review());
    await slow.clock.advance(millis(10_000));
    expect((await answer).status).toBe(504);
  });

  test('rejects two functions with the same name', () => {
    const fn: AdmissionFunction = {
      name: 'x',
      resources: [],
      phase: 'validating',
      review: () => ({ allowed: true }),
    };
    expect(() =>
      webhookHandler({
        functions: [fn, fn],
        clock: new VirtualClock(),
        log: silentLog,
        registry: new Registry(),
        callers: bySecret,
      }),
    ).toThrow(/same name/);
  });
});

test('the same admission function works in process with the embedded server', async () => {
  const server = await createServer();
  const fn: AdmissionFunction = {
    name: 'no-secrets',
    resources: ['configmaps'],
    phase: 'validating',
    review: ({ object, operation }) =>
      operation === 'CREATE' && object?.metadata.name === 'bad'
        ? { allowed: false, message: 'bad name' }
        : { allowed: true },
  };
  server.admit(fn);
  const create = (name: string) =>
    server.handle({
      method: 'POST',
      path: '/api/v1/namespaces/default/configmaps',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })),
    });
  expect([(await create('good')).status, (await create('bad')).status]).toEqual([201, 403]);
  await server.close();
});

test('applying the computed JSON patch yields the second object (random objects)', () => {
  const value = fc.letrec<{ json: unknown; object: Record<string, unknown> }>((tie) => ({
    json: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(null, true, 0, 'x', 'a/b~c'),
      fc.array(fc.nat(3), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc.dictionary(fc.constantFrom('a', 'b', 'a/b', 'm~n', ''), tie('json'), { maxKeys: 4 }),
  })).object;
  fc.assert(
    fc.property(value, value, (before, after) => {
      const patch = buildJsonPatch(before as JsonObject, after as JsonObject);
      const result = applyPatch(structuredClone(before), patch as Operation[]).newDocument;
      expect({ ...result }).toEqual({ ...after });
    }),
    { numRuns: 300 },
  );
});
