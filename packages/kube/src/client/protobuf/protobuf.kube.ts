// Compares objects read from a real kube-apiserver as protobuf, by shape, with its JSON.

import { expect, test } from 'vitest';
import { Job, Pod } from '#api/kinds/builtin';
import { DELETION, IDENTITY, int, many, map, OWNERS, one, type Shape, text, time } from '#api/shape';
import type { Client } from '../client.ts';
import { objectOf } from '../client.ts';
import { realCluster } from '../kube.testkit.ts';
import { pick } from './pick.testkit.ts';

const cluster = realCluster();
const template = {
  spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
};
const METADATA: Shape = { ...IDENTITY, ...DELETION, ...OWNERS, annotations: map(12) };
const JOB: Shape = {
  metadata: one(1, METADATA),
  spec: one(2, { ttlSecondsAfterFinished: int(8), parallelism: int(1) }),
  status: one(3, {
    conditions: many(1, { type: text(1), status: text(2), lastTransitionTime: time(4), message: text(6) }),
  }),
};

async function createJob(client: Client, name: string, ttl?: number): Promise<Job> {
  const job = objectOf(
    await client.create(Job, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name,
        namespace: 'default',
        annotations: { 'lapse.dev/ttl': 'never', 'example.com/text': '日本語 🎉', empty: '' },
        finalizers: ['example.com/a', 'example.com/b'],
      },
      spec: { template, ...(ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl }) },
    }),
  );
  const at = '2026-01-02T03:04:05Z';
  const status = {
    startTime: at,
    conditions: [
      { type: 'FailureTarget', status: 'True', lastTransitionTime: at, message: 'grüße' },
      { type: 'Failed', status: 'True', lastTransitionTime: at, reason: 'r', message: 'm' },
    ],
  };
  return objectOf(await client.update(Job, { ...job, status }, { subresource: 'status' }));
}

test('a protobuf list equals the JSON list, page by page', async () => {
  const { client } = cluster;
  for (const ttl of [undefined, 0, 1, 2 ** 31 - 1]) await createJob(client, `j-${ttl ?? 'none'}`, ttl);
  const whole = await client.list(Job, { namespace: 'default' });
  const shaped = await client.list(Job, { namespace: 'default', shape: JOB, limit: 3 });
  expect(shaped.resourceVersion).toBe(whole.resourceVersion);
  expect(whole.items).toHaveLength(4);
  expect(shaped.items).toEqual(
    whole.items.map((job) => ({ ...pick(job, JOB), apiVersion: 'batch/v1', kind: 'Job' })),
  );
  // A JSON response would contain more fields.
  expect(shaped.items[0]!.spec).not.toHaveProperty('template');
});

test('a protobuf watch returns existing objects, the bookmark, a change and a deletion', async () => {
  const { client } = cluster;
  const first = await createJob(client, 'watched', 60);
  const stop = new AbortController();
  const options = { namespace: 'default', fieldSelector: 'metadata.name=watched', signal: stop.signal };
  const seen: unknown[] = [];
  for await (const event of client.watch(Job, { ...options, shape: JOB, sendInitialEvents: true })) {
    if (event.type === 'error') throw event.error;
    seen.push(event);
    if (event.type === 'bookmark' && event.initialEventsEnd)
      await client.patch(Job, { namespace: 'default', name: 'watched' }, RELEASE);
    if (event.type === 'modified')
      await client.delete(Job, { namespace: 'default', name: 'watched' }, { propagation: 'Background' });
    if (event.type === 'deleted') stop.abort();
  }
  const asJob = (more: object) => ({ ...pick(first, JOB), apiVersion: 'batch/v1', kind: 'Job', ...more });
  expect(seen).toMatchObject([
    { type: 'added', object: asJob({}) },
    { type: 'bookmark', initialEventsEnd: true },
    { type: 'modified', object: { metadata: { name: 'watched' }, spec: { ttlSecondsAfterFinished: 5 } } },
    { type: 'deleted', object: { metadata: { name: 'watched', uid: first.metadata.uid } } },
  ]);
});

const RELEASE = {
  type: 'merge',
  patch: { metadata: { finalizers: null }, spec: { ttlSecondsAfterFinished: 5 } },
} as const;

test('error responses in protobuf are decoded', async () => {
  const { client } = cluster;
  await expect(client.listPage(Job, { shape: JOB, continue: 'junk' })).rejects.toMatchObject({
    code: 400,
    reason: 'BadRequest',
    message: expect.stringContaining('continue'),
  });
  await expect(client.list(Pod, { shape: JOB, fieldSelector: 'no.such=field' })).rejects.toMatchObject({
    code: 400,
    message: expect.stringContaining('no.such'),
  });
  const events = client.watch(Job, { shape: JOB, resourceVersion: 'junk' });
  expect((await events.next()).value).toMatchObject({
    type: 'error',
    error: { code: 500, reason: 'InternalError', message: expect.stringContaining('"junk"') },
  });
});
