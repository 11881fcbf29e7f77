// The read API as its host calls it: what it answers, in which form, and what it never sends.

import { gunzipSync } from 'node:zlib';
import { silentLog } from '@lapse/base/log';
import type { Client } from '@lapse/kube/client/client';
import { aggregatedHandler } from '@lapse/runtime/aggregated/aggregated';
import { acceptsGzip } from '@lapse/runtime/aggregated/compress';
import { describe, expect, test } from 'vitest';
import type { ManifestCheckpoint } from '#api/manifestCheckpoint';
import type { ManifestCheckpointContentChunk } from '#api/manifestCheckpointContentChunk';
import { chunkObject, configMap, encodeAll, noise } from '#checkpoint/checkpoint.testkit';
import { manifestsApi, manifestsPath } from './readApi.ts';

const OBJECTS = [
  ...Array.from({ length: 5 }, (_, i) => configMap(`c-${i}`, { text: noise(1500, i + 1) })),
  { ...configMap('z'), n: 2n ** 53n + 1n },
];
const condition = (status: string, reason: string) => [{ type: 'Ready', status, reason, message: 'why' }];

function worldOf(objects = OBJECTS, conditions = condition('True', 'Completed')) {
  const chunks = encodeAll(objects, 2600);
  const stored = new Map<string, ManifestCheckpointContentChunk>(
    chunks.map((chunk, index) => [`mcp-a-${index}`, chunkObject('mcp-a', index, chunk)]),
  );
  const checkpoint: ManifestCheckpoint = {
    apiVersion: 'state-snapshotter.deckhouse.io/v1alpha1',
    kind: 'ManifestCheckpoint',
    metadata: { name: 'mcp-a' },
    status: {
      chunks: chunks.map(({ objectsCount, sizeBytes, checksum }, index) => {
        return { name: `mcp-a-${index}`, index, objectsCount, sizeBytes, checksum };
      }),
      conditions,
    },
  };
  const asked: string[] = [];
  const get = async (kind: { kind: string }, { name }: { name: string }) => {
    asked.push(name);
    return kind.kind === 'ManifestCheckpoint'
      ? name === 'mcp-a'
        ? checkpoint
        : undefined
      : stored.get(name);
  };
  return { client: { get } as unknown as Client, stored, asked };
}

interface Asking {
  readonly method?: string;
  readonly encoding?: string;
  readonly maxObjects?: number;
  readonly allowed?: boolean;
  readonly signal?: AbortSignal;
}

async function ask(client: Client, path = manifestsPath('mcp-a'), asking: Asking = {}) {
  const { method = 'GET', encoding, allowed = true, maxObjects, signal } = asking;
  const handle = aggregatedHandler({
    api: manifestsApi({ client, ...(maxObjects === undefined ? {} : { maxObjects }) }),
    frontProxy: () => ({
      authority: '',
      allowedNames: [],
      userHeaders: ['x-remote-user'],
      uidHeaders: [],
      groupHeaders: [],
      extraPrefixes: [],
    }),
    authorize: async () => ({ allowed, reason: '' }),
    log: silentLog,
  });
  const headers = encoding === undefined ? {} : { 'accept-encoding': encoding };
  const request = { method, path, headers, ...(signal === undefined ? {} : { signal }) };
  const peer = {
    verified: true,
    headers: (name: string) => (name === 'x-remote-user' ? ['alice'] : []),
    headerNames: () => [],
  };
  const response = await handle(request, peer);
  const bytes = async () => {
    if (response.body instanceof Uint8Array) return Buffer.from(response.body);
    const parts: Uint8Array[] = [];
    for await (const part of response.body) parts.push(part);
    return Buffer.concat(parts);
  };
  return { ...response, bytes, json: async () => JSON.parse((await bytes()).toString()) };
}

test('a JSON array of everything, in order and exactly, one chunk at a time', async () => {
  const { client, asked } = worldOf();
  const answer = await ask(client);
  expect(answer.status).toBe(200);
  expect(answer.headers).toEqual({ 'content-type': 'application/json', vary: 'Accept-Encoding' });
  // Nothing but the first chunk has been read when the answer begins.
  expect(asked).toEqual(['mcp-a', 'mcp-a-0']);
  const text = (await answer.bytes()).toString();
  expect(text).toContain('9007199254740993');
  expect(JSON.parse(text).map((one: { metadata: { name: string } }) => one.metadata.name)).toEqual(
    OBJECTS.map(({ metadata }) => metadata.name),
  );
});

test('of nothing, an empty array', async () => {
  expect(await (await ask(worldOf([]).client)).json()).toEqual([]);
});

test('compressed for whoever takes it', async () => {
  const answer = await ask(worldOf().client, undefined, { encoding: 'gzip, deflate' });
  expect(answer.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
  expect(JSON.parse(gunzipSync(await answer.bytes()).toString())).toHaveLength(OBJECTS.length);
});

test.each([
  ['', false],
  ['gzip', true],
  ['deflate, GZIP;q=0.5', true],
  ['gzip;q=0', false],
  ['gzip; q=0, *', false],
  ['*', true],
  ['*;q=0', false],
  ['identity', false],
  ['gzip;q=odd', false],
  ['xgzip', false],
])('Accept-Encoding: %s → %s', (header, accepted) => {
  expect(acceptsGzip(header)).toBe(accepted);
});

describe('refusals are Statuses', () => {
  const path = manifestsPath('mcp-a');
  test('405 for anything but GET, 404 for anything else there', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect((await (await ask(worldOf().client, path, { method })).json()).reason).toBe('MethodNotAllowed');
    for (const other of ['/other', '', '/manifests/more'])
      expect((await ask(worldOf().client, path.replace('/manifests', other))).status).toBe(404);
  });

  test('404 for a checkpoint that is not there', async () => {
    const { client } = worldOf();
    expect(await (await ask(client, manifestsPath('mcp-b'))).json()).toMatchObject({
      kind: 'Status',
      code: 404,
      reason: 'NotFound',
      details: { name: 'mcp-b', kind: 'manifestcheckpoints' },
    });
  });

  test('403 before anything is read', async () => {
    const { client, asked } = worldOf();
    expect((await ask(client, path, { allowed: false })).status).toBe(403);
    expect(asked).toEqual([]);
  });

  test.each([
    ['unfinished', [], /\(Unknown\)/],
    ['failed', condition('False', 'NotFound'), /\(NotFound\): why/],
  ])('409 while it is %s', async (_, conditions, words) => {
    const answer = await ask(worldOf(OBJECTS, conditions).client);
    expect(await answer.json()).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message: expect.stringMatching(words),
    });
  });

  test('500 for one with more objects than allowed, or whose first chunk is damaged, naming it', async () => {
    expect(await (await ask(worldOf().client, path, { maxObjects: 5 })).json()).toMatchObject({ code: 500 });
    const world = worldOf();
    world.stored.get('mcp-a-0')!.spec!.data = 'AAAA';
    expect(await (await ask(world.client)).json()).toMatchObject({
      code: 500,
      reason: 'InternalError',
      message: expect.stringContaining('mcp-a-0'),
    });
  });
});

describe('what turns up later', () => {
  test.each([undefined, 'gzip'])(
    'a chunk damaged in the middle ends the stream (%s): no half is whole',
    async (encoding) => {
      const world = worldOf();
      world.stored.delete('mcp-a-1');
      const answer = await ask(world.client, undefined, encoding === undefined ? {} : { encoding });
      expect(answer.status).toBe(200);
      await expect(answer.bytes()).rejects.toThrow(/mcp-a-1 .* is missing/);
    },
  );

  test('nobody reads on for a caller who has gone', async () => {
    const world = worldOf();
    const gone = new AbortController();
    const answer = await ask(world.client, undefined, { signal: gone.signal });
    gone.abort();
    await expect(answer.bytes()).rejects.toThrow();
    expect(world.asked.length).toBeLessThan(world.stored.size + 1);
  });
});
