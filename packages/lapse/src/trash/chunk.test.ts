import { describe, expect, test } from 'vitest';
import { BatchWriter } from './batchWriter.ts';
import { decodeRecords, encodeRecords, type TrashChunk } from './chunk.ts';
import { deletionId } from './record.ts';
import { buildSecret, chunkInfoOf } from './secretStore.ts';
import { configMap, NOW, recordOf } from './trash.testkit.ts';

/** Text that hardly compresses. */
const noise = (length: number, seed: number): string => {
  let state = seed * 7919;
  return Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return String.fromCharCode(33 + (state % 90));
  }).join('');
};

describe('chunks', () => {
  const records = ['a', 'b'].map((name) => recordOf(configMap(name)));

  test('records are read as they were written', () => {
    const { chunks, tooLarge } = encodeRecords(records, NOW);
    expect(chunks).toHaveLength(1);
    expect(tooLarge.size).toBe(0);
    expect(decodeRecords(chunks[0]!)).toEqual({ kind: 'records', records });
  });

  test('a Secret keeps all that is known about its chunk', () => {
    const [chunk] = encodeRecords(records, NOW).chunks;
    const { data: _, ...info } = chunk!;
    expect(chunkInfoOf(buildSecret(chunk!, 'lapse-system'))).toEqual(info);
  });

  test('names sort by time', () => {
    const names = [0, 1, 1e9].map((later) => encodeRecords(records, (NOW + later) as never).chunks[0]!.name);
    expect(names.toSorted()).toEqual(names);
  });

  test('records that exceed one Secret are split', () => {
    const many = Array.from({ length: 4 }, (_, i) =>
      recordOf(configMap(`c${i}`, {}, { data: { text: noise(400_000, i + 1) } })),
    );
    const { chunks } = encodeRecords(many, NOW);
    expect(chunks.length).toBeGreaterThan(1);
    for (const { bytes } of chunks) expect(bytes).toBeLessThanOrEqual(786_432);
    expect(chunks.reduce((sum, { objects }) => sum + objects, 0)).toBe(4);
  });

  test.each<[string, Partial<TrashChunk>, RegExp]>([
    ['other data', { data: 'H4sIAAAAAAAAA4uOBQApu0wNAgAAAA==' }, /checksum/],
    ['a wrong count', { objects: 3 }, /holds 2 objects and counts 3/],
    ['no checksum', { checksum: '' }, /checksum/],
  ])('a chunk with %s is damaged', (_, change, why) => {
    const [chunk] = encodeRecords(records, NOW).chunks;
    expect(decodeRecords({ ...chunk!, ...change })).toMatchObject({
      kind: 'damaged',
      why: expect.stringMatching(why),
    });
  });

  test('the id of a deletion depends on uid and version only', () => {
    const id = deletionId(configMap('a'));
    expect(deletionId(configMap('a', {}, { data: { x: 'y' } }))).toBe(id);
    expect(deletionId(configMap('a', { resourceVersion: '8' }))).not.toBe(id);
    expect(deletionId(configMap('a', { uid: 'other' }))).not.toBe(id);
  });
});

describe('the writer', () => {
  test('writes records of one turn together, and what arrives during a write together afterwards', async () => {
    const sizes: number[] = [];
    let during: Promise<unknown> | undefined;
    const store = {
      async put({ objects }: TrashChunk) {
        sizes.push(objects);
        for (const name of ['c', 'd', 'e'])
          if (sizes.length === 1) during = Promise.all([during, writer.write(recordOf(configMap(name)))]);
      },
    };
    const writer = new BatchWriter({ store, now: () => NOW });
    await Promise.all(['a', 'b'].map((name) => writer.write(recordOf(configMap(name)))));
    await during;
    expect(sizes).toEqual([2, 3]);
  });

  test('rejects all records of a chunk that is not stored, and writes the next ones', async () => {
    let fails = true;
    const store = {
      put: async () => {
        if (fails) throw new Error('full');
      },
    };
    const writer = new BatchWriter({ store, now: () => NOW });
    const results = await Promise.allSettled(
      ['a', 'b'].map((name) => writer.write(recordOf(configMap(name)))),
    );
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    expect(await writer.write(recordOf(configMap('c')))).toEqual({ kind: 'stored' });
  });

  test('refuses only the record that is too large', async () => {
    const stored: number[] = [];
    const store = { put: async ({ objects }: TrashChunk) => void stored.push(objects) };
    const writer = new BatchWriter({ store, now: () => NOW });
    const deep = JSON.parse(`${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`) as object;
    const results = await Promise.all([
      writer.write(recordOf(configMap('a'))),
      writer.write(recordOf(configMap('deep', {}, { data: deep }))),
      writer.write(recordOf(configMap('b'))),
    ]);
    expect(results.map(({ kind }) => kind)).toEqual(['stored', 'tooLarge', 'stored']);
    expect(stored).toEqual([2]);
  });
});
