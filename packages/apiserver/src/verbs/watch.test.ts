// How watches start: with the existing objects, with missed events, or with none.

import { VirtualClock } from '@lapse/base/virtualClock';
import { expect, test } from 'vitest';
import { startServer } from '../crd/testkit.ts';
import { Store } from '../store/store.ts';
import { STREAM_LIMITS } from '../watch/eventStream.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const FRESH = 'resourceVersionMatch=NotOlderThan';

/** A server with `count` ConfigMaps, written directly to the store. */
async function serverWith(count: number) {
  const clock = new VirtualClock();
  const store = Store.inMemory(clock);
  const api = await startServer({ store, clock });
  const before = api.server.revision();
  for (let i = 0; i < count; i++) {
    const metadata = { name: `m${i}`, namespace: 'default', uid: `u${i}` };
    await store.put('configmaps', `default/m${i}`, 0, { kind: 'ConfigMap', apiVersion: 'v1', metadata });
  }
  /** `TYPE name` of each event; bookmarks have no name. */
  const watched = async (query: string, meanwhile = async () => {}): Promise<string[]> => {
    const { body } = await api.send('GET', `${MAPS}?watch=1&timeoutSeconds=30&${query}`);
    await meanwhile();
    // The watch ended before it is read: everything is still delivered.
    await api.wait(30);
    const chunks: Uint8Array[] = [];
    for await (const chunk of body as AsyncIterable<Uint8Array>) chunks.push(chunk);
    const lines = Buffer.concat(chunks).toString().split('\n').slice(0, -1);
    return lines.map((line) => {
      const { type, object } = JSON.parse(line) as { type: string; object: { metadata: { name?: string } } };
      return `${type} ${object.metadata.name ?? ''}`;
    });
  };
  return { api, before, watched };
}

test('the queue limit does not apply to initial and missed events', async () => {
  const count = STREAM_LIMITS.events + 1;
  const { api, before, watched } = await serverWith(count);
  const all = await watched(`sendInitialEvents=true&allowWatchBookmarks=true&${FRESH}`);
  // The first one marks the end of the initial events, the second one precedes the end of the watch.
  expect(all.slice(count)).toEqual(['BOOKMARK ', 'BOOKMARK ']);
  expect(await watched(`resourceVersion=${before}`)).toHaveLength(count);
  expect(api.server.undelivered()).toBe(0);
  await api.close();
});

test.each([
  ['without a version', ''],
  ['from any version', 'resourceVersion=0&'],
])('%s, a watch without initial events starts with the next change', async (_, version) => {
  const { api, watched } = await serverWith(2);
  const change = async () => {
    await api.delete(`${MAPS}/m0`);
  };
  const seen = await watched(`${version}sendInitialEvents=false&${FRESH}`, change);
  expect(seen).toEqual(['DELETED m0']);
  await api.close();
});

test('sends changes during the initial events after them, each once', async () => {
  const { api, before, watched } = await serverWith(2);
  const change = async () => {
    await api.post(MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'late' } });
  };
  expect(await watched('resourceVersion=0', change)).toEqual(['ADDED m0', 'ADDED m1', 'ADDED late']);
  await api.delete(`${MAPS}/late`);
  expect(await watched(`resourceVersion=${before}`, change)).toEqual([
    'ADDED m0',
    'ADDED m1',
    'ADDED late',
    'DELETED late',
    'ADDED late',
  ]);
  await api.close();
});
