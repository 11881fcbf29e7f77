// Captured objects decode unchanged, whatever their contents, number and size. Also: what the API server accepts and
// refuses of the kinds.

import { encodeBase64, sha256 } from '@lapse/base/codec';
import { minutes, seconds } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { equal, type Json } from '@lapse/kube/api/json';
import { asJson } from '@lapse/kube/api/object';
import fc from 'fast-check';
import type { ManifestCaptureRequest } from 'lapse/api/manifestCaptureRequest';
import { ManifestCheckpoint } from 'lapse/api/manifestCheckpoint';
import { ManifestCheckpointContentChunk } from 'lapse/api/manifestCheckpointContentChunk';
import { chunkObject, encodeAll, noise, configMap as plain } from 'lapse/checkpoint/checkpoint.testkit';
import { decodeChunk } from 'lapse/checkpoint/decode';
import { MAX_CHUNK_BYTES } from 'lapse/checkpoint/limits';
import { expect, test } from 'vitest';
import { requestScenario } from '../requests/invariants.ts';
import { readyOf } from '../requests/kit.ts';
import { runScene } from '../sceneRunner.ts';
import { widgetOf, widgetsOf } from '../widgets.ts';
import {
  capturedObjects,
  checkpointOf,
  configMap,
  manifests,
  manifestWorld,
  names,
  REF,
  secret,
  target,
} from './kit.ts';

const widgets = widgetsOf('example.com');
const widget = (name: string, spec: Json) => widgetOf(widgets, name, spec);

/** As stored by the server now, without the fields that checkpoints leave out. */
async function live(
  simulation: Awaited<ReturnType<Parameters<Parameters<typeof runScene>[0]>[0]['simulation']>>,
  ref: string,
) {
  const object = (await simulation.userClient.get(ref))!;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

requestScenario(
  'all contents of objects, beyond 2^53, Unicode and binary, are captured exactly',
  async (scene) => {
    const { given, when, then, simulation } = scene;
    const objects = [
      widgets,
      widget('numbers', {
        big: 9_007_199_254_740_993n,
        low: -(2n ** 63n),
        list: [1, 2.5, 9_007_199_254_740_993n],
      }),
      configMap(
        'text',
        { text: 'Zürich 東京 🚀 \u2028', 'with.dots': '\n\t"\\' },
        { annotations: { a: 'b' } },
      ),
      secret('binary', { data: { all: encodeBase64(Uint8Array.from({ length: 256 }, (_, i) => i)) } }),
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p', namespace: 'default' },
        spec: { containers: [{ name: 'c', image: 'i' }] },
        status: { phase: 'Running' },
      },
    ];
    await manifestWorld(given, { objects });
    const wanted = [
      target('Widget', 'numbers', 'example.com/v1'),
      target('Namespace', 'default'),
      target('Secret', 'binary'),
      target('Pod', 'p'),
      target('ConfigMap', 'text'),
    ];
    await when.user.apply(manifests('before', wanted));
    expect(await readyOf(then, REF)).toBe('True Completed');
    const captured = await capturedObjects(await simulation(), await checkpointOf(then));
    expect(names(captured)).toEqual([
      'Widget numbers',
      'ConfigMap text',
      'Namespace default',
      'Pod p',
      'Secret binary',
    ]);
    const refs = ['widget/numbers', 'configmap/text', 'namespace/default', 'pod/p', 'secret/binary'];
    for (const [i, ref] of refs.entries())
      expect(equal(asJson(captured[i]!), asJson(await live(await simulation(), ref)) as Json), ref).toBe(
        true,
      );
    expect((captured[0]!['spec'] as { big: bigint }).big).toBe(9_007_199_254_740_993n);
  },
);

test('objects of any contents are unchanged after capture and decoding', async () => {
  const value = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.integer(),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n }),
    fc.boolean(),
  );
  const spec = fc.dictionary(
    fc.stringMatching(/^[a-z]{1,8}$/),
    fc.oneof(value, fc.array(value, { maxLength: 3 })),
    { maxKeys: 6, noNullPrototype: true },
  );
  const many = fc.sample(spec, { numRuns: 60, seed: 7 }) as Json[];
  await runScene(async ({ given, when, then, simulation }) => {
    await manifestWorld(given, { objects: [widgets, ...many.map((one, i) => widget(`w${i}`, one))] });
    await when.user.apply(
      manifests(
        'before',
        many.map((_, i) => target('Widget', `w${i}`, 'example.com/v1')),
      ),
    );
    expect(await readyOf(then, REF)).toBe('True Completed');
    for (const object of await capturedObjects(await simulation(), await checkpointOf(then))) {
      const is = await live(await simulation(), `widget/${object.metadata.name}`);
      expect(equal(asJson(object), asJson(is) as Json)).toBe(true);
      expect(equal(object['spec'] as Json, many[Number(object.metadata.name!.slice(1))]!)).toBe(true);
    }
  });
});

requestScenario('a kind named failure is captured', async ({ given, when, then, simulation }) => {
  const odd = structuredClone(widgets);
  odd.metadata.name = 'failures.example.com';
  odd.spec.names = { kind: 'failure', plural: 'failures', singular: 'failure', listKind: 'failureList' };
  const object = { ...widget('odd', { reason: 'none' }), kind: 'failure' };
  await manifestWorld(given, { objects: [odd, object] });
  await when.user.apply(manifests('before', [target('failure', 'odd', 'example.com/v1')]));
  expect(await readyOf(then, REF)).toBe('True Completed');
  expect(names(await capturedObjects(await simulation(), await checkpointOf(then)))).toEqual(['failure odd']);
});

requestScenario('redacted: no value of a Secret is stored', async ({ given, when, then, simulation }) => {
  await manifestWorld(given, { configuration: { capture: { secrets: 'redact' } } });
  await when.user.apply(manifests('before', [target('Secret', 'db'), target('ConfigMap', 'a')]));
  const captured = await capturedObjects(await simulation(), await checkpointOf(then));
  expect(names(captured)).toEqual(['ConfigMap a', 'Secret db']);
  expect(captured[1]).not.toHaveProperty('data');
});

requestScenario(
  'the profile clean leaves objects out; if none is left, there is one empty chunk',
  async ({ given, when, then, simulation }) => {
    await manifestWorld(given, {
      configuration: { capture: { profile: 'clean' } },
      objects: [configMap('kube-root-ca.crt')],
    });
    await when.user.apply(manifests('before', [target('ConfigMap', 'kube-root-ca.crt')]));
    expect(await readyOf(then, REF)).toBe('True Completed');
    const checkpoint = await checkpointOf(then);
    expect(checkpoint.status).toMatchObject({ totalObjects: 0, chunks: [{ index: 0, objectsCount: 0 }] });
    expect(await capturedObjects(await simulation(), checkpoint)).toEqual([]);
  },
);

const TEN = Array.from({ length: 10 }, (_, i) => configMap(`c${i}`, { x: noise(1_000_000, i + 1) }));
const OF_TEN = TEN.map(({ metadata }) => target('ConfigMap', metadata.name!));

requestScenario(
  '10 MB in 10 ConfigMaps: contiguous chunks and correct totals; the capture resumes after a crash',
  async ({ given, when, then, simulation }) => {
    await manifestWorld(given, { objects: TEN });
    let chunks = 0;
    const isNinth = ({ verb, resource }: { verb: string; resource: string }) =>
      verb === 'create' && resource === 'manifestcheckpointcontentchunks' && ++chunks === 9;
    when.serverAnswers(isNinth, { hang: 'before' });
    await when.user.apply(manifests('before', OF_TEN));
    (await simulation()).crash();
    expect((await (await simulation()).user.list(ManifestCheckpointContentChunk)).items).toHaveLength(8);
    // Stored chunks stay unchanged. Objects not stored yet are read in their current state.
    for (const name of ['c0', 'c9'])
      await when.user.patch(`configmap/${name}`, { metadata: { labels: { changed: 'yes' } } });
    const reads = (await simulation()).requests.length;
    await when.processRestarts();
    await when.timePasses(seconds(1));
    expect(await readyOf(then, REF)).toBe('True Completed');
    const read = (await simulation()).requests
      .slice(reads)
      .filter(({ verb, resource }) => verb === 'get' && resource === 'configmaps');
    expect(read.map(({ name }) => name)).toEqual(['c8', 'c9']);
    const checkpoint = await checkpointOf(then);
    const { chunks: listed = [], totalObjects, totalSizeBytes } = checkpoint.status!;
    expect(listed.map(({ index }) => index)).toEqual(listed.map((_, i) => i));
    expect(totalObjects).toBe(10);
    expect(totalSizeBytes).toBe(listed.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0));
    for (const { sizeBytes } of listed) expect(sizeBytes).toBeLessThanOrEqual(MAX_CHUNK_BYTES);
    const captured = await capturedObjects(await simulation(), checkpoint);
    expect(captured.map((object) => object['data'])).toEqual(TEN.map((object) => object['data']));
    expect(captured.map(({ metadata }) => metadata.labels?.['changed'])).toEqual([
      ...Array(9).fill(undefined),
      'yes',
    ]);
  },
);

requestScenario(
  'settings that changed during a capture: Interrupted, never a mixture',
  async ({ given, when, then, simulation }) => {
    await manifestWorld(given, { objects: TEN.slice(0, 2) });
    when.serverAnswers('create manifestcheckpointcontentchunks', { hang: 'after' });
    await when.user.apply(manifests('before', OF_TEN.slice(0, 2)));
    (await simulation()).crash();
    const [chunk] = (await (await simulation()).user.list(ManifestCheckpointContentChunk)).items;
    await when.user.delete(`mcpchunk/${chunk!.metadata.name}`);
    const other = {
      ...chunk!,
      metadata: { ...chunk!.metadata, annotations: {}, resourceVersion: undefined, uid: undefined },
    };
    await when.user.create(other as never);
    await when.processRestarts();
    await when.timePasses(seconds(1));
    expect(await readyOf(then, REF)).toBe('False Interrupted');
    const [checkpoint] = (await (await simulation()).user.list(ManifestCheckpoint)).items;
    expect(checkpoint!.status?.conditions?.[0]).toMatchObject({ status: 'False', reason: 'Interrupted' });
  },
);

test('10,000 targets, some named twice, are stored once each and in order', async () => {
  const count = 9_900;
  await runScene(async ({ given, when, then, simulation }) => {
    const objects = Array.from({ length: count }, (_, i) => configMap(`c${String(i).padStart(5, '0')}`));
    await manifestWorld(given, { objects });
    const all = objects.map(({ metadata }) => target('ConfigMap', metadata.name!)).reverse();
    await when.user.apply(manifests('before', [...all, ...all.slice(0, 100)]));
    await when.timePasses(seconds(1));
    expect(await readyOf(then, REF)).toBe('True Completed');
    const checkpoint = await checkpointOf(then);
    expect(checkpoint.status?.totalObjects).toBe(count);
    expect(names(await capturedObjects(await simulation(), checkpoint))).toEqual(names(objects));
    await expect(when.user.create(manifests('more', [...all, ...all.slice(0, 101)]))).rejects.toThrow(
      /must have at most 10000 items/,
    );
  });
});

test('a chunk that another client tampered with is never trusted and never causes a crash', () => {
  const [good] = encodeAll([plain('a', { x: noise(300) }), plain('b')]);
  const bytes = Buffer.from(good!.data, 'base64');
  const random = seededRandom(3);
  for (let i = 0; i < 3000; i++) {
    const changed = Buffer.from(
      bytes.subarray(0, random.next() < 0.1 ? Math.floor(random.next() * bytes.length) : bytes.length),
    );
    if (changed.length > 0)
      changed[Math.floor(random.next() * changed.length)]! ^= 1 + Math.floor(random.next() * 255);
    const forged = { ...good!, data: encodeBase64(changed) };
    const expected = { checkpointName: 'mcp-1', index: 0 };
    expect(decodeChunk(chunkObject('mcp-1', 0, forged), expected).kind).toBe('damaged');
    // Even with a forged checksum, decoding returns objects or reports damage.
    const consistent = { ...forged, checksum: sha256(changed) };
    expect(['manifests', 'damaged']).toContain(
      decodeChunk(chunkObject('mcp-1', 0, consistent), expected).kind,
    );
  }
});

requestScenario(
  'kinds: refused specs, immutable fields, and printed columns',
  async ({ given, when, then, simulation }) => {
    await manifestWorld(given);
    const bare = (spec: object) => ({ ...manifests('x'), spec }) as ManifestCaptureRequest;
    for (const [object, why] of [
      [bare({}), /spec.targets: Required value/],
      [bare({ targets: [] }), /should have at least 1 items/],
      [bare({ targets: [{ apiVersion: 'v1', kind: 'ConfigMap' }] }), /targets\[0\].name: Required value/],
      [bare({ targets: [{ apiVersion: '', kind: 'ConfigMap', name: 'a' }] }), /at least 1 chars long/],
    ] as const)
      await expect(when.user.create(object)).rejects.toThrow(why);
    await when.user.create(manifests());
    const checkpoint = await checkpointOf(then);
    const name = checkpoint.metadata.name!;
    await expect(when.user.patch(`mcp/${name}`, { spec: { sourceNamespace: 'other' } })).rejects.toThrow(
      'cannot be changed',
    );
    await expect(when.user.patch(`mcpchunk/${name}-0`, { spec: { data: 'AAAA' } })).rejects.toThrow(
      'cannot be changed',
    );
    const long = chunkObject('mcp-x', 0, { ...encodeAll([])[0]!, data: 'A'.repeat(1_048_577) });
    await expect(when.user.create(long)).rejects.toThrow(/may not be more than 1048576 bytes/);
    const { user } = await simulation();
    const table = async (path: string) => {
      const { body } = await user.raw({
        method: 'GET',
        path: `/apis/state-snapshotter.deckhouse.io/v1alpha1/${path}`,
        headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' },
      });
      const { columnDefinitions } = JSON.parse(Buffer.from(body).toString()) as {
        columnDefinitions: { name: string }[];
      };
      return columnDefinitions.map((column) => column.name).join();
    };
    expect(await table('namespaces/default/manifestcapturerequests')).toBe(
      'Name,Checkpoint,Ready,Reason,Age',
    );
    expect(await table('manifestcheckpoints')).toBe('Name,Namespace,Objects,Size,Ready,Reason,Age');
    expect(await table('manifestcheckpointcontentchunks')).toBe('Name,Checkpoint,Index,Objects,Age');
    await when.timePasses(minutes(1));
  },
);
