import { silentLog } from '@lapse/base/log';
import { VirtualClock } from '@lapse/base/virtualClock';
import { describe, expect, test } from 'vitest';
import { Registry } from '../metrics/registry.ts';
import type { Peer } from './peer.ts';
import type { AdmissionFunction } from './review.ts';
import { reviewPath } from './reviewPaths.ts';
import { type Callers, webhookHandler } from './webhook.ts';

const SECRET = 'c2VjcmV0';
const bySecret: Callers = { paths: { accepted: () => ['other', SECRET], refreshSoon: () => {} } };
const peer = (commonName?: string): Peer => ({
  verified: commonName !== undefined,
  ...(commonName === undefined ? {} : { commonName }),
  headers: () => [],
  headerNames: () => [],
});
const BODY = Buffer.from(
  JSON.stringify({
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: 'u-1',
      kind: { group: 'batch', version: 'v1', kind: 'Job' },
      resource: { group: 'batch', version: 'v1', resource: 'jobs' },
      operation: 'CREATE',
      userInfo: { username: 'alice' },
    },
  }),
);

describe('webhook callers', () => {
  const fn: AdmissionFunction = {
    name: 'jobs',
    resources: ['jobs.batch'],
    phase: 'validating',
    review: () => ({ allowed: true }),
  };
  function refusing(callers: Callers) {
    const registry = new Registry();
    const hook = webhookHandler({
      functions: [fn],
      clock: new VirtualClock(),
      log: silentLog,
      registry,
      callers,
    });
    return { ...hook, registry };
  }
  const byCertificate: Callers = { clientNames: ['kube-apiserver'] };
  const byBoth: Callers = { ...bySecret, ...byCertificate };

  test.each<[string, Callers, string, string | undefined, number | undefined]>([
    ['the secret path is accepted', bySecret, `/review/${SECRET}/jobs`, undefined, undefined],
    ['with a query, too', bySecret, `/review/${SECRET}/jobs?timeout=10s`, undefined, undefined],
    ['a path without the secret is not found', bySecret, '/review/jobs', undefined, 404],
    ['a wrong secret is not found', bySecret, '/review/c2VjcmV1/jobs', undefined, 404],
    ['a part of the secret is not found', bySecret, `/review/${SECRET.slice(0, -1)}/jobs`, undefined, 404],
    ['an empty secret is not found', bySecret, '/review//jobs', undefined, 404],
    ['another function is not found', bySecret, `/review/${SECRET}/other`, undefined, 404],
    ['a longer path is not found', bySecret, `/review/${SECRET}/jobs/x`, undefined, 404],
    ['the root is not found', bySecret, '/', undefined, 404],
    ['a client certificate is accepted', byCertificate, '/review/jobs', 'kube-apiserver', undefined],
    ['a client certificate with another name is not found', byCertificate, '/review/jobs', 'alice', 404],
    ['a caller without a client certificate is not found', byCertificate, '/review/jobs', undefined, 404],
    ['any name is accepted if no names are listed', { clientNames: [] }, '/review/jobs', 'alice', undefined],
    ['the secret alone is not enough if both are required', byBoth, `/review/${SECRET}/jobs`, undefined, 404],
    [
      'the certificate alone is not enough if both are required',
      byBoth,
      '/review/jobs',
      'kube-apiserver',
      404,
    ],
    [
      'the secret and the certificate together are accepted',
      byBoth,
      `/review/${SECRET}/jobs`,
      'kube-apiserver',
      undefined,
    ],
  ])('%s', async (_rule, callers, path, name, status) => {
    const { refuse, handle } = refusing(callers);
    expect(refuse({ method: 'POST', path }, peer(name))?.status).toBe(status);
    const answer = await handle({ method: 'POST', path, headers: {}, body: BODY }, peer(name));
    expect(answer.status).toBe(status ?? 200);
  });

  test('counts a refused caller and runs no review', async () => {
    const { refuse, handle, registry } = refusing(bySecret);
    refuse({ method: 'POST', path: '/review/jobs' }, peer());
    const body = Buffer.from('{ not even parsed');
    await handle({ method: 'POST', path: '/review/jobs', headers: {}, body }, peer());
    const text = registry.text();
    expect(text).toContain('lapse_webhook_refused_total{reason="path"} 1');
    expect(text).toContain('lapse_webhook_reviews_total{webhook="jobs",result="error"} 0');
  });

  test('checks the webhook configurations soon after a call with a wrong path', () => {
    let refreshes = 0;
    const { refuse } = refusing({ paths: { accepted: () => [SECRET], refreshSoon: () => refreshes++ } });
    refuse({ method: 'POST', path: '/' }, peer());
    refuse({ method: 'POST', path: reviewPath('jobs', SECRET) }, peer());
    expect(refreshes).toBe(1);
  });

  test('throws if neither a secret nor client certificates are configured', () => {
    expect(() => refusing({})).toThrow(/path secret or client certificates/);
  });
});
