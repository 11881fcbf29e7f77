// What a capture builds, which existing objects belong to it, and where an attempt continues.

import { encodeBase64, gzip, sha256 } from '@lapse/base/codec';
import { instant } from '@lapse/base/instant';
import type { OwnerReference } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import type { ManifestCheckpoint } from '#api/manifestCheckpoint';
import { configMap, encodeAll, noise } from '#checkpoint/checkpoint.testkit';
import { checkpointName } from '#checkpoint/names';
import {
  advance,
  buildCheckpoint,
  buildCheckpointEnd,
  buildChunk,
  checkpointProblem,
  chunkInfo,
  chunkProblem,
  computeCaptureId,
  computeCheckpointEnd,
} from './decide.ts';
import { inOrder } from './inOrder.ts';
import { request } from './manifest.testkit.ts';

const KEEPER: OwnerReference = {
  apiVersion: 'deckhouse.io/v1alpha1',
  kind: 'ObjectKeeper',
  name: 'ret-mcr-uid-1',
  uid: 'keeper-1',
  controller: true,
  blockOwnerDeletion: true,
};
const REQUEST = request('v1 ConfigMap a');
const stored = (): ManifestCheckpoint => {
  const built = buildCheckpoint(REQUEST, KEEPER, 'id-1');
  return { ...built, metadata: { ...built.metadata, uid: 'checkpoint-1' } };
};
const id = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name });

describe('the capture id', () => {
  const settings = { secrets: 'include', profile: 'verbatim' } as never;
  const of = (more: object = {}, uid = 'u', names = ['a']) =>
    computeCaptureId({ ...REQUEST, metadata: { uid } }, names.map(id), {
      ...(settings as object),
      ...more,
    } as never);
  test('is equal for equal input', () => expect(of()).toBe(of()));
  test.each([
    ['another request', of({}, 'v')],
    ['other objects', of({}, 'u', ['b'])],
    ['other secrets', of({ secrets: 'redact' })],
    ['another profile', of({ profile: 'clean' })],
  ])('%s: differs', (_what, other) => expect(other).not.toBe(of()));
});

describe('checkpoints', () => {
  test('the name is derived from the uid, the keeper is the only owner, and there are no finalizers', () => {
    const { metadata, spec } = stored();
    expect(metadata.name).toBe(checkpointName('uid-1'));
    expect(metadata.ownerReferences).toEqual([KEEPER]);
    expect(metadata.finalizers).toBeUndefined();
    expect(metadata.labels).toEqual({
      'state-snapshotter.deckhouse.io/source-namespace': 'shop',
      'state-snapshotter.deckhouse.io/source-request': 'before',
    });
    expect(spec).toEqual({
      sourceNamespace: 'shop',
      manifestCaptureRequestRef: { name: 'before', namespace: 'shop', uid: 'uid-1' },
    });
  });
  test('a name that is too long for a label is not an error', () => {
    const long = { ...REQUEST, metadata: { ...REQUEST.metadata, name: 'x'.repeat(64) } };
    expect(Object.keys(buildCheckpoint(long, KEEPER, 'i').metadata.labels!)).toHaveLength(1);
  });
  test('a name of 63 characters fits into the label', () => {
    const name = 'x'.repeat(63);
    const longest = { ...REQUEST, metadata: { ...REQUEST.metadata, name } };
    expect(Object.values(buildCheckpoint(longest, KEEPER, 'i').metadata.labels!)).toContain(name);
  });
  test('28. without a uid there is no owner reference', () => {
    expect(() => buildCheckpoint(REQUEST, { ...KEEPER, uid: '' }, 'i')).toThrow('without uid');
    const [chunk] = encodeAll([]);
    expect(() => buildChunk(buildCheckpoint(REQUEST, KEEPER, 'i'), 0, chunk!)).toThrow('without uid');
  });

  const other = (change: (checkpoint: ManifestCheckpoint) => void): ManifestCheckpoint => {
    const checkpoint = stored();
    change(checkpoint);
    return checkpoint;
  };
  test.each<[string, ManifestCheckpoint, RegExp | undefined]>([
    ['ours', stored(), undefined],
    [
      'has an additional owner',
      other(({ metadata }) => metadata.ownerReferences!.push({ ...KEEPER, uid: 'x', controller: false })),
      undefined,
    ],
    [
      'belongs to another request',
      other(({ spec }) => {
        spec!.manifestCaptureRequestRef!.uid = 'uid-2';
      }),
      /request with uid uid-2/,
    ],
    [
      'belongs to another keeper',
      other(({ metadata }) => {
        metadata.ownerReferences = [{ ...KEEPER, uid: 'keeper-0' }];
      }),
      /controlled by ObjectKeeper ret-mcr-uid-1 \(keeper-0\)/,
    ],
    [
      'has no owner',
      other(({ metadata }) => {
        delete metadata.ownerReferences;
      }),
      /exists and has no controlling owner/,
    ],
    [
      'is terminating',
      other(({ metadata }) => {
        metadata.deletionTimestamp = 'x';
      }),
      /being deleted/,
    ],
  ])('%s', (_what, checkpoint, why) => {
    const problem = checkpointProblem(checkpoint, REQUEST, KEEPER);
    if (why === undefined) expect(problem).toBeUndefined();
    else expect(problem?.message).toMatch(why);
  });

  const now = instant(Date.UTC(2026, 0, 1));
  const condition = (status: string, reason: string) => ({
    conditions: [{ type: 'Ready', status, reason, message: 'm' }],
  });
  test('the final status has totals over all chunks when complete, and no chunks otherwise', () => {
    const chunks = [1, 2].map((n, i) =>
      chunkInfo('mcp', i, { objectsCount: n, sizeBytes: 10 * n, checksum: 'c' }),
    );
    const done = buildCheckpointEnd(chunks, { ready: true, reason: 'Completed', message: 'm' }, now);
    expect(done).toMatchObject({
      totalObjects: 3,
      totalSizeBytes: 30,
      chunks: [{ name: 'mcp-0' }, { name: 'mcp-1' }],
    });
    const failed = buildCheckpointEnd(chunks, { ready: false, reason: 'Failed', message: 'm' }, now);
    expect(failed).toEqual({
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          reason: 'Failed',
          message: 'm',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    });
  });
  test.each([
    ['no condition', {}, undefined],
    ['Unknown', condition('Unknown', 'Completed'), undefined],
    ['True', condition('True', 'Completed'), { ready: true, reason: 'Completed', message: 'm' }],
    ['False', condition('False', 'NotFound'), { ready: false, reason: 'NotFound', message: 'm' }],
    [
      'a reason of another controller',
      condition('False', 'Odd'),
      { ready: false, reason: 'Failed', message: 'm' },
    ],
  ])('readiness: %s', (_what, status, end) => {
    expect(computeCheckpointEnd({ ...stored(), status } as ManifestCheckpoint)).toEqual(end);
  });
});

describe('54. a chunk that exists', () => {
  const objects = [configMap('a', { x: noise(500) })];
  const [wanted] = encodeAll(objects);
  const ours = () => buildChunk(stored(), 0, wanted!);
  const repacked = () => {
    // The same objects with another compression: two gzip members instead of one.
    const json = Buffer.from(`[${JSON.stringify(objects[0])}]`);
    const bytes = Buffer.concat([gzip(json.subarray(0, 9)), gzip(json.subarray(9))]);
    return { ...wanted!, data: encodeBase64(bytes), checksum: sha256(bytes) };
  };
  test('belongs to the capture if it is identical', () =>
    expect(chunkProblem(ours(), stored(), 0, wanted!)).toBeUndefined());
  test('belongs to the capture if it has the same objects with another compression', () => {
    expect(repacked().checksum).not.toBe(wanted!.checksum);
    expect(chunkProblem(buildChunk(stored(), 0, repacked()), stored(), 0, wanted!)).toBeUndefined();
  });
  const [foreign] = encodeAll([configMap('a', { x: 'y' })]);
  test.each([
    ['other objects', buildChunk(stored(), 0, foreign!), /holds something else/],
    ['another index', buildChunk(stored(), 1, wanted!), /index is 1/],
    [
      'another checkpoint of this name',
      buildChunk({ ...stored(), metadata: { ...stored().metadata, uid: 'old' } }, 0, wanted!),
      /controlled by ManifestCheckpoint .* \(old\)/,
    ],
    [
      'another capture',
      { ...ours(), metadata: { ...ours().metadata, annotations: {} } },
      /of capture undefined/,
    ],
    ['damaged', buildChunk(stored(), 0, { ...wanted!, checksum: 'f'.repeat(64) }), /its checksum is/],
  ])('%s: a conflict', (_what, chunk, why) => {
    expect(chunkProblem(chunk, stored(), 0, wanted!)).toMatchObject({
      reason: 'ChunkConflict',
      message: expect.stringMatching(why),
    });
  });
});

describe('continuing a capture', () => {
  const targets = ['a', 'b', 'c', 'd'].map(id);
  test.each<[string, number, string[], number | undefined]>([
    ['the next targets follow', 0, ['a', 'b'], 2],
    ['from the middle to the end', 2, ['c', 'd'], 4],
    ['nothing', 1, [], 1],
    ['some were skipped by the profile', 0, ['b', 'd'], 4],
    ['an object that is no target', 0, ['a', 'aa'], undefined],
    ['an object from before the position', 2, ['b'], undefined],
    ['objects out of order', 0, ['b', 'a'], undefined],
    ['more objects than targets', 3, ['d', 'e'], undefined],
    ['an object twice', 0, ['a', 'a'], undefined],
  ])('%s', (_what, from, found, next) => {
    expect(
      advance(
        targets,
        from,
        found.map((name) => configMap(name)),
      ),
    ).toBe(next);
  });
});

describe('parallel reads in order', () => {
  const collect = async (answers: AsyncIterable<unknown>) => {
    const out: unknown[] = [];
    for await (const answer of answers) out.push(answer);
    return out;
  };
  test('results come in the order of the inputs, regardless of their duration', async () => {
    const late: (() => void)[] = [];
    const ask = (n: number) => new Promise<number>((resolve) => late.unshift(() => resolve(n)));
    const all = collect(inOrder([1, 2, 3], 3, ask));
    for (const answer of late) answer();
    expect(await all).toEqual([1, 2, 3]);
  });
  test('there are never more pending calls than allowed', async () => {
    let under = 0;
    let most = 0;
    const ask = async () => {
      most = Math.max(most, ++under);
      await Promise.resolve();
      under--;
    };
    await collect(inOrder(Array.from({ length: 50 }), 4, ask));
    expect(most).toBeLessThanOrEqual(4);
  });
  test('a failure stops the sequence; later failures are ignored', async () => {
    const ask = async (n: number) => Promise.reject(new Error(String(n)));
    await expect(collect(inOrder([1, 2, 3, 4], 3, ask))).rejects.toThrow('1');
  });
});
