// Tests the limits of chunks with large objects: uncompressed size, exact compressed size, too large objects.

import type { Json } from '@lapse/kube/api/json';
import { expect, test } from 'vitest';
import { configMap, encodeAll, noise } from './checkpoint.testkit.ts';
import { ChunkEncoder, type EncodedChunk } from './encode.ts';
import { MAX_CHUNK_BYTES, MAX_CHUNK_JSON, MAX_OBJECT_JSON } from './limits.ts';

const counts = (chunks: readonly EncodedChunk[]) => chunks.map(({ objectsCount }) => objectsCount);

test('objects that compress well are split by their JSON size, so that memory is bounded', () => {
  const objects = Array.from({ length: 9 }, (_, i) => configMap(`c${i}`, { x: ' '.repeat(1024 * 1024) }));
  expect(counts(encodeAll(objects))).toEqual([7, 2]);
  expect(MAX_CHUNK_JSON).toBe(8 * 1024 * 1024);
});

test('objects that exceed the JSON limit of a chunk are reported by name', () => {
  const large = new ChunkEncoder().add(configMap('wide', { x: ' '.repeat(MAX_OBJECT_JSON) }));
  expect(large).toMatchObject({ kind: 'tooLarge', object: 'v1 ConfigMap default/wide' });
  let deep: Json = 1;
  for (let i = 0; i < 1001; i++) deep = [deep];
  expect(new ChunkEncoder().add({ ...configMap('deep'), deep })).toMatchObject({
    kind: 'tooLarge',
    why: 'it is nested too deeply',
  });
});

/** Noise of a length at which a ConfigMap of this name, alone, has exactly `bytes` compressed bytes. */
function exactly(name: string, bytes: number): string {
  const size = (length: number) =>
    encodeAll([configMap(name, { x: noise(length) })], bytes * 2)[0]!.sizeBytes;
  let length = Math.floor(bytes / 0.7575);
  for (let i = 0; i < 40; i++) {
    const is = size(length);
    if (is === bytes) return noise(length);
    length += Math.round((bytes - is) / 0.7575) || Math.sign(bytes - is);
  }
  throw new Error(`no length comes to ${bytes}`);
}

test('an object of 786,432 compressed bytes is a chunk, and one byte more is too large', () => {
  const fits = exactly('exact', MAX_CHUNK_BYTES);
  const [chunk] = encodeAll([configMap('exact', { x: fits })]);
  expect(chunk!.sizeBytes).toBe(786_432);
  expect(chunk!.data).toHaveLength(1_048_576);
  const over = exactly('exact', MAX_CHUNK_BYTES + 1);
  expect(() => encodeAll([configMap('exact', { x: over })])).toThrow(
    'v1 ConfigMap default/exact: compressed it has 786433 bytes',
  );
});
