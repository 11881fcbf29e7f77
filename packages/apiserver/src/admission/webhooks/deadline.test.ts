// The time limit of a write, for all webhooks together.

import { afterEach, expect, test } from 'vitest';
import { type World, withHooks } from './testkit.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const SILENT = { '/': 'silence' } as const;
const slow = { at: '/', failurePolicy: 'Ignore', timeoutSeconds: 30 };
const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
const TIMED_OUT = {
  code: 504,
  reason: 'Timeout',
  message: 'Timeout: request did not complete within requested timeout - context deadline exceeded',
};

let world: World;
afterEach(() => world.api.close());

/** Sends a write; the returned function returns the response so far. */
function post(path: string): () => unknown {
  let answer: unknown = 'nothing yet';
  void world.api.post(path, map).then(({ body }) => {
    answer = body;
  });
  return () => answer;
}

async function wait(n: number): Promise<void> {
  await world.api.wait(n);
  await world.api.settle();
}

test('a request times out after the timeout of its client and writes nothing', async () => {
  world = await withHooks(SILENT, slow, slow);
  const answered = post(`${MAPS}?timeout=1500ms`);
  await wait(1.499);
  expect(answered()).toBe('nothing yet');
  await wait(0.001);
  expect(answered()).toMatchObject(TIMED_OUT);
  await wait(120);
  expect((await world.api.get(`${MAPS}/a`)).status).toBe(404);
  // Webhooks after the one that used all the time are not called.
  expect(world.asked).toHaveLength(1);
});

test.each(['', '?timeout=0', '?timeout=1h'])(
  'a request times out after 34 seconds at the latest (%s)',
  async (query) => {
    world = await withHooks(SILENT, slow, slow);
    const answered = post(MAPS + query);
    await wait(33.999);
    expect(answered()).toBe('nothing yet');
    await wait(0.001);
    expect(answered()).toMatchObject(TIMED_OUT);
    await wait(120);
    expect((await world.api.get(`${MAPS}/a`)).status).toBe(404);
  },
);

test('validating webhooks share the deadline of the request', async () => {
  const validating = { ...slow, phase: 'Validating' };
  world = await withHooks(SILENT, validating, validating);
  const answered = post(`${MAPS}?timeout=1s`);
  await wait(1);
  expect(answered()).toMatchObject(TIMED_OUT);
});

test('the deadline also applies to in-process admission functions', async () => {
  world = await withHooks({});
  const never = new Promise<never>(() => {});
  const review = () => never;
  world.api.server.admit({ name: 'f', phase: 'mutating', resources: ['configmaps'], review });
  const answered = post(`${MAPS}?timeout=1s`);
  await wait(1);
  expect(answered()).toMatchObject(TIMED_OUT);
});

test('ignores a failed webhook with failurePolicy Ignore while there is time', async () => {
  world = await withHooks(SILENT, { ...slow, timeoutSeconds: 2 });
  const answered = post(`${MAPS}?timeout=10s`);
  await wait(2);
  expect(answered()).toMatchObject({ kind: 'ConfigMap' });
});
