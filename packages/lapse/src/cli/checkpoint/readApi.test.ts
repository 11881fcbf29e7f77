// The read API as its host calls it: responses, encodings, and data that is never sent.

import { gunzipSync } from 'node:zlib';
import { silentLog } from '@lapse/base/log';
import type { Client } from '@lapse/kube/client/client';
import { acceptsGzip } from '@lapse/runtime/aggregated/acceptsGzip';
import { aggregatedHandler } from '@lapse/runtime/aggregated/aggregated';
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

test('returns a JSON array of all objects in order, one chunk at a time', async () => {
  const { client, asked } = worldOf();
  const answer = await ask(client);
  expect(answer.status).toBe(200);
  expect(answer.headers).toEqual({ 'content-type': 'application/json', vary: 'Accept-Encoding' });
  // Only the first chunk has been read when the response starts.
  expect(asked).toEqual(['mcp-a', 'mcp-a-0']);
  const text = (await answer.bytes()).toString();
  expect(text).toContain('9007199254740993');
  expect(JSON.parse(text).map((one: { metadata: { name: string } }) => one.metadata.name)).toEqual(
    OBJECTS.map(({ metadata }) => metadata.name),
  );
});

test('returns an empty array for an empty checkpoint', async () => {
  expect(await (await ask(worldOf([]).client)).json()).toEqual([]);
});

test('compresses the response if the client accepts it', async () => {
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

describe('errors are Status objects', () => {
  const path = manifestsPath('mcp-a');
  test('405 for other methods, 404 for other paths', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect((await (await ask(worldOf().client, path, { method })).json()).reason).toBe('MethodNotAllowed');
    for (const other of ['/other', '', '/manifests/more'])
      expect((await ask(worldOf().client, path.replace('/manifests', other))).status).toBe(404);
  });

  test('404 for a checkpoint that does not exist', async () => {
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

  test('500 with the name of a checkpoint that has too many objects or whose first chunk is damaged', async () => {
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

describe('errors after the start of the response', () => {
  test.each([undefined, 'gzip'])(
    'a damaged chunk in the middle aborts the stream (%s), so that the response is not taken for complete',
    async (encoding) => {
      const world = worldOf();
      world.stored.delete('mcp-a-1');
      const answer = await ask(world.client, undefined, encoding === undefined ? {} : { encoding });
      expect(answer.status).toBe(200);
      await expect(answer.bytes()).rejects.toThrow(/mcp-a-1 .* is missing/);
    },
  );

  test('reading stops when the client disconnects', async () => {
    const world = worldOf();
    const gone = new AbortController();
    const answer = await ask(world.client, undefined, { signal: gone.signal });
    gone.abort();
    await expect(answer.bytes()).rejects.toThrow();
    expect(world.asked.length).toBeLessThan(world.stored.size + 1);
  });
});
