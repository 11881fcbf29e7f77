// Reading objects without the right to chunks, through an API with arbitrary responses.

import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import { expect, test } from 'vitest';
import type { ManifestCheckpoint } from '#api/manifestCheckpoint';
import { chunkObject, configMap, encodeAll, noise } from '#checkpoint/checkpoint.testkit';
import { objectsOf } from './objects.ts';

const OBJECTS = ['a', 'b', 'c', 'd'].map((name, i) => configMap(name, { text: noise(1500, i + 1) }));
const chunks = encodeAll(OBJECTS, 2600);
const checkpoint: ManifestCheckpoint = {
  apiVersion: 'state-snapshotter.deckhouse.io/v1alpha1',
  kind: 'ManifestCheckpoint',
  metadata: { name: 'mcp-a' },
  status: {
    chunks: chunks.map(({ objectsCount, sizeBytes, checksum }, index) => {
      return { name: `mcp-a-${index}`, index, objectsCount, sizeBytes, checksum };
    }),
    conditions: [{ type: 'Ready', status: 'True' }],
  },
};
const forbidden = new ApiError(403, 'Forbidden', 'chunks is forbidden');

/** Chunks from this index on are forbidden. The API returns this response. */
function clientOf(forbiddenFrom: number, status: number, body: unknown) {
  const asked: string[] = [];
  const client = {
    get: async (_: unknown, { name }: { name: string }) => {
      const index = Number(name.split('-').at(-1));
      if (index >= forbiddenFrom) throw forbidden;
      return chunkObject('mcp-a', index, chunks[index]!);
    },
    raw: async ({ path }: { path: string }) => {
      asked.push(path);
      return {
        status,
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify(body)),
      };
    },
  } as unknown as Client;
  return { client, asked };
}

async function read(client: Client): Promise<KubeObject[]> {
  const read: KubeObject[] = [];
  for await (const object of objectsOf(client, checkpoint)) read.push(object);
  return read;
}

test('all objects are read through the API when the first chunk is forbidden', async () => {
  const { client, asked } = clientOf(0, 200, OBJECTS);
  expect(await read(client)).toEqual(OBJECTS);
  expect(asked).toHaveLength(1);
});

test('reading does not restart through the API after some chunks were read', async () => {
  const { client, asked } = clientOf(1, 200, OBJECTS);
  await expect(read(client)).rejects.toBe(forbidden);
  expect(asked).toEqual([]);
});

test.each([
  ['fewer than the checkpoint counts', OBJECTS.slice(1)],
  ['more', [...OBJECTS, ...OBJECTS]],
  ['no array', { items: OBJECTS }],
  ['no objects', OBJECTS.map(() => 1)],
])('%s: the response is rejected', async (_, body) => {
  await expect(read(clientOf(0, 200, body).client)).rejects.toThrow(/did not answer with the 4 objects/);
});

test.each([404, 503])('without the API (%i) the right to chunks is reported as missing', async (status) => {
  await expect(read(clientOf(0, status, {}).client)).rejects.toBe(forbidden);
});

test('an error of the API is reported with its message', async () => {
  const status = { kind: 'Status', code: 409, reason: 'Conflict', message: 'not Ready' };
  await expect(read(clientOf(0, 409, status).client)).rejects.toThrow('not Ready');
});
