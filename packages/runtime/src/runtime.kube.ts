// The runtime against a real API server: paged and streaming lists, metadata-only watches, selectors, broken streams, a
// compacted history, and Event validation.

import { readFileSync } from 'node:fs';
import { realClock } from '@lapse/base/clock';
import { seconds } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import { systemRandom } from '@lapse/base/random';
import { metadataOf } from '@lapse/kube/api/kind';
import { type Client, createClient } from '@lapse/kube/client/client';
import { bearer, fixedCredentials } from '@lapse/kube/client/credentials';
import type { Transport } from '@lapse/kube/client/transport';
import { undiciTransport } from '@lapse/kube/client/undici';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Bed, startBed } from '../../../test/kube/bed/bed.ts';
import { type CacheHandle, Caches } from './caches.ts';
import { KubeEvent } from './events/build.ts';
import { EventSender } from './events/outbox.ts';
import { Interner } from './interner.ts';
import { SOCKET_LIVENESS } from './liveness.ts';
import { Registry } from './metrics/registry.ts';
import { ConfigMap, configMap } from './world.testkit.ts';

let bed: Bed;
let wire: Transport;
let client: Client;
const requests: string[] = [];
let cut: (() => void)[] = [];

/** Wraps a transport: records requests and can break open streams. */
const observed = (inner: Transport): Transport => ({
  request: (request) => {
    requests.push(request.path);
    return inner.request(request);
  },
  stream: async (request) => {
    requests.push(request.path);
    const stream = await inner.stream(request);
    cut.push(() => stream.close());
    return stream;
  },
});

beforeAll(async () => {
  bed = await startBed();
  wire = undiciTransport({
    server: bed.url,
    clock: realClock,
    tls: { ca: readFileSync(bed.caFile, 'utf8') },
  });
  const credentials = fixedCredentials({ headers: bearer(bed.adminToken) });
  client = createClient({ transport: observed(wire), clock: realClock, random: systemRandom, credentials });
  await Promise.all(
    Array.from({ length: 1200 }, (_, i) =>
      client.create(ConfigMap, configMap(`x-${i}`, { n: String(i) }, { labels: { half: String(i % 2) } })),
    ),
  );
});
afterAll(async () => {
  await wire?.close?.();
  await bed?.stop();
});

const cachesWith = (listBy: 'stream' | 'pages') =>
  new Caches({
    client,
    clock: realClock,
    random: systemRandom,
    interner: new Interner(),
    liveness: SOCKET_LIVENESS,
    listBy,
  });
const shown = (handle: CacheHandle<ConfigMap>) =>
  [...handle.reader.list()].map((o) => `${o.metadata.name}@${o.metadata.resourceVersion}`).sort();
const serverContents = async (labelSelector?: string) => {
  const list = await client.list(ConfigMap, {
    namespace: 'default',
    ...(labelSelector === undefined ? {} : { labelSelector }),
  });
  return list.items.map((o) => `${o.metadata.name}@${o.metadata.resourceVersion}`).sort();
};
const eventually = (look: () => Promise<void>) => vi.waitFor(look, { timeout: 15_000, interval: 50 });

test.each(['stream', 'pages'] as const)(
  'lists by %s, then receives changes, additions and deletions',
  async (listBy) => {
    requests.length = 0;
    const caches = cachesWith(listBy);
    const handle = caches.acquire<ConfigMap>({ kind: ConfigMap, namespace: 'default' });
    await eventually(async () => expect(handle.status).toEqual({ state: 'watching', synced: true }));
    const asked = requests.map((path) => /sendInitialEvents|limit=500|watch/.exec(path)?.[0]);
    const pages = ['limit=500', 'limit=500', 'limit=500', 'watch'];
    expect(asked).toEqual(listBy === 'stream' ? ['watch'] : pages);
    expect(requests[0]!.includes('sendInitialEvents=true')).toBe(listBy === 'stream');
    expect(shown(handle)).toEqual(await serverContents());
    await client.create(ConfigMap, configMap(`new-${listBy}`));
    await client.patch(
      ConfigMap,
      { namespace: 'default', name: 'x-7' },
      { type: 'merge', patch: { data: { n: listBy } } },
    );
    await client.delete(ConfigMap, { namespace: 'default', name: `x-${listBy === 'stream' ? 8 : 9}` });
    await eventually(async () => expect(shown(handle)).toEqual(await serverContents()));
    await caches.close();
  },
);

test('a metadata-only watch with a selector removes objects that leave the selection', async () => {
  const caches = cachesWith('stream');
  const handle = caches.acquire({
    kind: metadataOf(ConfigMap),
    namespace: 'default',
    labelSelector: 'half=1',
  });
  await eventually(async () => expect(handle.status.synced).toBe(true));
  const first = handle.reader.get({ namespace: 'default', name: 'x-1' });
  expect([first?.kind, first?.data]).toEqual(['PartialObjectMetadata', undefined]);
  await client.patch(
    ConfigMap,
    { namespace: 'default', name: 'x-1' },
    { type: 'merge', patch: { metadata: { labels: { half: '0' } } } },
  );
  await eventually(async () =>
    expect(handle.reader.get({ namespace: 'default', name: 'x-1' })).toBeUndefined(),
  );
  expect(handle.reader.size).toBe((await serverContents('half=1')).length);
  await caches.close();
});

test('resumes a broken stream and relists after compaction', async () => {
  const caches = cachesWith('stream');
  cut = [];
  const handle = caches.acquire<ConfigMap>({ kind: ConfigMap, namespace: 'default' });
  await eventually(async () => expect(handle.status.synced).toBe(true));
  requests.length = 0;
  for (const close of cut.splice(0)) close();
  await client.create(ConfigMap, configMap('after-break'));
  await eventually(async () => expect(shown(handle)).toEqual(await serverContents()));
  expect(requests.filter((path) => path.includes('sendInitialEvents'))).toEqual([]);
  for (let i = 0; i < 3; i++) {
    await client.patch(
      ConfigMap,
      { namespace: 'default', name: 'x-20' },
      { type: 'merge', patch: { data: { round: String(i) } } },
    );
    await bed.compact();
    for (const close of cut.splice(0)) close();
    await eventually(async () => expect(shown(handle)).toEqual(await serverContents()));
  }
  await caches.close();
});

test('the API server accepts Events and their series count', async () => {
  const registry = new Registry();
  const sender = new EventSender({
    client,
    clock: realClock,
    random: systemRandom,
    log: silentLog,
    registry,
    instance: 'test-1',
  });
  const object = (await client.get(ConfigMap, { namespace: 'default', name: 'x-30' }))!;
  for (let i = 0; i < 7; i++)
    sender.sink.record(
      object,
      { type: 'Warning', reason: 'DeletionHeld', action: 'Delete', note: 'because' },
      'ttl-after-finished',
    );
  await sender.close(seconds(10));
  const { items } = await client.list(KubeEvent, {
    namespace: 'default',
    fieldSelector: 'reason=DeletionHeld',
  });
  expect(items.map((e) => [e.regarding.name, e.series?.count, e.reportingController])).toEqual([
    ['x-30', 7, 'lapse.dev/ttl-after-finished'],
  ]);
  expect(await bed.kubectl('events', '--for', 'configmap/x-30')).toContain('DeletionHeld');
});
