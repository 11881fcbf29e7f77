// Tests reading a checkpoint: a complete one is read in order and exactly; a damaged one is refused with its name.

import { encodeBase64, fromUtf8, gzip, sha256, utf8 } from '@lapse/base/codec';
import type { KubeObject } from '@lapse/kube/api/object';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ManifestCheckpoint } from '#api/manifestCheckpoint';
import type { ManifestCheckpointContentChunk } from '#api/manifestCheckpointContentChunk';
import { chunkObject, configMap, encodeAll, noise } from './checkpoint.testkit.ts';
import {
  type CheckpointProblem,
  type FetchChunk,
  listChunks,
  type ReadOptions,
  readCheckpoint,
} from './read.ts';
import { verifyCheckpoint } from './verify.ts';

const NAME = 'mcp-0123456789abcdef';

interface World {
  checkpoint: ManifestCheckpoint;
  readonly chunks: Map<string, ManifestCheckpointContentChunk>;
}

function worldOf(objects: readonly KubeObject[], most?: number): World {
  const encoded = encodeAll(objects, most);
  const chunks = encoded.map((chunk, index) => chunkObject(NAME, index, chunk));
  const infos = encoded.map(({ objectsCount, sizeBytes, checksum }, index) => ({
    name: `${NAME}-${index}`,
    index,
    objectsCount,
    sizeBytes,
    checksum,
  }));
  const total = (of: 'objectsCount' | 'sizeBytes') => infos.reduce((sum, info) => sum + info[of], 0);
  return {
    checkpoint: {
      apiVersion: 'state-snapshotter.deckhouse.io/v1alpha1',
      kind: 'ManifestCheckpoint',
      metadata: { name: NAME, uid: 'u' },
      spec: { sourceNamespace: 'default' },
      status: {
        chunks: infos,
        totalObjects: total('objectsCount'),
        totalSizeBytes: total('sizeBytes'),
        conditions: [{ type: 'Ready', status: 'True', reason: 'Completed' }],
      },
    },
    chunks: new Map(chunks.map((chunk) => [chunk.metadata.name!, chunk])),
  };
}

const fetchFrom =
  ({ chunks }: World): FetchChunk =>
  async (name) =>
    structuredClone(chunks.get(name));

async function read(world: World, options?: ReadOptions): Promise<KubeObject[]> {
  const objects: KubeObject[] = [];
  for await (const chunk of readCheckpoint(world.checkpoint, fetchFrom(world), options))
    objects.push(...chunk.objects);
  return objects;
}

async function problemsOf(world: World): Promise<string[]> {
  const problems: string[] = [];
  for await (const { problem } of verifyCheckpoint(world.checkpoint, fetchFrom(world)))
    if (problem !== undefined) problems.push(problem);
  return problems;
}

const three = (): World =>
  worldOf(
    Array.from({ length: 6 }, (_, i) => configMap(`c-${i}`, { text: noise(1500, i + 1) })),
    2600,
  );

test('objects are read exactly and in order, regardless of the order of the list', async () => {
  const objects = [
    ...Array.from({ length: 6 }, (_, i) => configMap(`c-${i}`, { text: noise(1500, i + 1) })),
    { ...configMap('z-odd', { 'é 😀\u2028': '\u0000"\\' }), n: 2n ** 53n + 1n, f: 1.5, e: null, l: [[], {}] },
  ];
  const world = worldOf(objects, 2600);
  expect(world.chunks.size).toBeGreaterThan(2);
  expect(await read(world)).toEqual(objects);
  world.checkpoint.status!.chunks!.reverse();
  expect(await read(world)).toEqual(objects);
  expect(await problemsOf(world)).toEqual([]);
});

test('a checkpoint without objects has one empty chunk', async () => {
  expect(await read(worldOf([]))).toEqual([]);
});

test('one chunk is fetched at a time, and only on demand', async () => {
  const world = three();
  const asked: string[] = [];
  const fetch: FetchChunk = async (name) => {
    asked.push(name);
    return world.chunks.get(name);
  };
  const reading = readCheckpoint(world.checkpoint, fetch);
  expect(asked).toEqual([]);
  const first = await reading.next();
  expect(asked).toEqual([`${NAME}-0`]);
  expect(fromUtf8(first.value!.json)).toMatch(/^\[\{.*\}\]$/);
  await reading.next();
  expect(asked).toEqual([`${NAME}-0`, `${NAME}-1`]);
});

describe('refuses and reports', () => {
  type Break = (world: World) => void;
  const spec = ({ chunks }: World, index: number) => chunks.get(`${NAME}-${index}`)!.spec!;
  const info = ({ checkpoint }: World, index: number) => checkpoint.status!.chunks![index]!;
  /** Writes other content with a matching checksum, in the chunk only or also in the list. */
  const forge = (world: World, index: number, json: string, all: boolean) => {
    const bytes = gzip(utf8(json));
    Object.assign(spec(world, index), { data: encodeBase64(bytes), checksum: sha256(bytes) });
    if (!all) return;
    const grown = bytes.length - info(world, index).sizeBytes;
    Object.assign(info(world, index), { checksum: sha256(bytes), sizeBytes: bytes.length });
    world.checkpoint.status!.totalSizeBytes! += grown;
  };
  const rows: Record<string, readonly [Break, CheckpointProblem, RegExp]> = {
    'a missing chunk': [
      ({ chunks }) => chunks.delete(`${NAME}-1`),
      'missingChunk',
      /chunk mcp-\w+-1 .* is missing/,
    ],
    'a gap in the list': [
      ({ checkpoint }) => checkpoint.status!.chunks!.splice(1, 1),
      'badList',
      /no chunk with index 1/,
    ],
    'an index twice': [(world) => (info(world, 2).index = 1), 'badList', /index 1 twice/],
    'a negative index': [(world) => (info(world, 0).index = -1), 'badList', /index -1/],
    'an index that is not a number': [
      (world) => ((info(world, 1) as unknown as { index: string }).index = '1'),
      'badList',
      /index/,
    ],
    'a name twice': [(world) => (info(world, 1).name = `${NAME}-0`), 'badList', /twice/],
    'no list': [({ checkpoint }) => (checkpoint.status!.chunks = []), 'badList', /is empty/],
    'more objects in the list than in the checkpoint': [
      ({ checkpoint }) => (checkpoint.status!.totalObjects = 5),
      'badList',
      /counts 6 objects, the checkpoint 5/,
    ],
    'other sizes in the list than in the checkpoint': [
      ({ checkpoint }) => (checkpoint.status!.totalSizeBytes = 5),
      'badList',
      /bytes, the checkpoint 5/,
    ],
    'a chunk of another checkpoint': [
      (world) => (spec(world, 1).checkpointName = 'mcp-other'),
      'damagedChunk',
      /mcp-\w+-1 .* mcp-other/,
    ],
    'chunks that were swapped': [
      ({ chunks }) => {
        const [a, b] = [chunks.get(`${NAME}-0`)!, chunks.get(`${NAME}-1`)!];
        [a.spec, b.spec] = [b.spec!, a.spec!];
      },
      'damagedChunk',
      /mcp-\w+-0 .* index is 1, not 0/,
    ],
    'the content of a neighbour under its own index': [
      (world) => Object.assign(spec(world, 1), { ...spec(world, 0), index: 1 }),
      'damagedChunk',
      /mcp-\w+-1 .* checksum/,
    ],
    'other content with a matching checksum in the chunk': [
      (world) => forge(world, 0, '[]', false),
      'damagedChunk',
      /checksum/,
    ],
    'fewer objects than counted, with matching checksums': [
      (world) => forge(world, 0, '[]', true),
      'damagedChunk',
      /holds 0 objects/,
    ],
    'content that is not an array': [(world) => forge(world, 0, '{}', true), 'damagedChunk', /not an array/],
    'content that is not JSON': [(world) => forge(world, 0, '[{]', true), 'damagedChunk', /JSON/],
    'items that are not objects': [
      (world) => forge(world, 0, '[1,2]', true),
      'damagedChunk',
      /not an object/,
    ],
    'a checkpoint without a checksum': [
      (world) => delete info(world, 1).checksum,
      'damagedChunk',
      /does not say its checksum/,
    ],
    'a size other than in the checkpoint': [
      (world) => {
        info(world, 0).sizeBytes++;
        info(world, 1).sizeBytes--;
      },
      'damagedChunk',
      /mcp-\w+-0 .* has \d+ bytes, its checkpoint says \d+/,
    ],
    'line breaks in base64': [
      (world) =>
        (spec(world, 0).data = `${spec(world, 0).data.slice(0, 76)}\n${spec(world, 0).data.slice(76)}`),
      'damagedChunk',
      /base64/,
    ],
    'a chunk without spec': [({ chunks }) => delete chunks.get(`${NAME}-0`)!.spec, 'damagedChunk', /spec/],
  };
  test.each(Object.entries(rows))('%s', async (_, [damage, problem, words]) => {
    const world = three();
    damage(world);
    await expect(read(world)).rejects.toMatchObject({ problem, message: expect.stringMatching(words) });
    if (problem === 'badList') await expect(problemsOf(world)).rejects.toThrow(words);
    else expect((await problemsOf(world)).join('\n')).toMatch(words);
  });

  test('yields all chunks before a damaged one, and nothing of the damaged one', async () => {
    const world = three();
    spec(world, 1).checksum = sha256('other');
    const seen: number[] = [];
    const reading = async () => {
      for await (const chunk of readCheckpoint(world.checkpoint, fetchFrom(world)))
        seen.push(chunk.info.index);
    };
    await expect(reading()).rejects.toThrow(/-1 /);
    expect(seen).toEqual([0]);
    expect(await problemsOf(world)).toHaveLength(1);
  });

  test('verification continues after a damaged chunk and finds an unlisted one', async () => {
    const world = three();
    const last = world.chunks.size;
    world.chunks.delete(`${NAME}-0`);
    spec(world, 1).data = 'AAAA';
    world.chunks.set(`${NAME}-${last}`, { ...world.chunks.get(`${NAME}-1`)! });
    const problems = await problemsOf(world);
    expect(problems).toHaveLength(3);
    expect(problems[0]).toMatch(/-0 .* is missing/);
    expect(problems[1]).toMatch(/-1 .* is damaged/);
    expect(problems[2]).toMatch(new RegExp(`-${last} exists and is not in the list`));
  });
});

describe('refuses before any chunk is fetched', () => {
  const withReady = (...conditions: object[]): ManifestCheckpoint => {
    const { checkpoint } = three();
    return { ...checkpoint, status: { ...checkpoint.status, conditions: conditions as never } };
  };
  test.each([
    ['unfinished', withReady(), /not Ready \(Unknown\): the capture has not ended yet/],
    [
      'failed',
      withReady({ type: 'Ready', status: 'False', reason: 'NotFound', message: 'v1 Secret x' }),
      /not Ready \(NotFound\): v1 Secret x/,
    ],
    ['unknown', withReady({ type: 'Ready', status: 'Unknown' }), /not Ready/],
    ['without status', { ...three().checkpoint, status: undefined } as never, /not Ready/],
  ])('%s', (_, checkpoint, words) => {
    expect(() => listChunks(checkpoint)).toThrow(words);
  });

  test('a checkpoint with more objects than the limit, but not one with exactly the limit', async () => {
    expect(await read(three(), { maxObjects: 6 })).toHaveLength(6);
    await expect(read(three(), { maxObjects: 5 })).rejects.toMatchObject({ problem: 'tooManyObjects' });
  });
});

test('reading and verification detect a change of any byte of any chunk', async () => {
  const world = three();
  const names = [...world.chunks.keys()];
  const change = fc.record({
    chunk: fc.constantFrom(...names),
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    by: fc.integer({ min: 1, max: 127 }),
    how: fc.constantFrom('replace', 'insert', 'remove'),
  });
  await fc.assert(
    fc.asyncProperty(change, async ({ chunk, at, by, how }) => {
      const before = world.chunks.get(chunk)!;
      const { data } = before.spec!;
      const i = Math.floor(at * data.length);
      const other = String.fromCharCode((data.charCodeAt(i) + by) % 128);
      const tampered =
        data.slice(0, i) + (how === 'remove' ? '' : other) + data.slice(how === 'insert' ? i : i + 1);
      world.chunks.set(chunk, { ...before, spec: { ...before.spec!, data: tampered } });
      try {
        await expect(read(world)).rejects.toMatchObject({ problem: 'damagedChunk', chunk });
        expect(await problemsOf(world)).toHaveLength(1);
      } finally {
        world.chunks.set(chunk, before);
      }
    }),
    { numRuns: 100 },
  );
  expect(await problemsOf(world)).toEqual([]);
});

test('reading and verification detect a non-canonical end of base64', async () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=';
  const paddings = new Set<number>();
  for (const name of ['a', 'bcd', 'efghi', 'jklmnopq']) {
    const world = worldOf([configMap(name)]);
    const [chunk] = world.chunks.values();
    const { data } = chunk!.spec!;
    paddings.add(data.length - data.replace(/=+$/, '').length);
    for (let at = data.length - 4; at < data.length; at++)
      for (const other of alphabet) {
        if (other === data[at]) continue;
        chunk!.spec!.data = data.slice(0, at) + other + data.slice(at + 1);
        await expect(read(world)).rejects.toMatchObject({ problem: 'damagedChunk' });
      }
  }
  expect(paddings.size).toBeGreaterThan(1);
});
