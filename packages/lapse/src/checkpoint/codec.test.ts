// Tests encoding and decoding of chunks: round trips, chunk limits, and the detection of damaged chunks.

import { encodeBase64, gzip, sha256, utf8 } from '@lapse/base/codec';
import { equal, type Json } from '@lapse/kube/api/json';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chunkObject, configMap, encodeAll, noise } from './checkpoint.testkit.ts';
import { decodeChunk, unpackChunk } from './decode.ts';
import { ChunkEncoder, type EncodedChunk } from './encode.ts';
import { compareIdentities, describeIdentity } from './identity.ts';
import { MAX_CHUNK_BYTES, MAX_OBJECT_JSON } from './limits.ts';
import { buildManifest } from './manifest.ts';
import { checkpointName, chunkName } from './names.ts';

const expected = (index: number) => ({ checkpointName: 'mcp-1', index });

function decodeAll(chunks: readonly EncodedChunk[]): KubeObject[] {
  return chunks.flatMap((chunk, index) => {
    const decoded = decodeChunk(chunkObject('mcp-1', index, chunk), expected(index));
    if (decoded.kind === 'damaged') throw new Error(decoded.why);
    return decoded.objects;
  });
}

describe('encoding and decoding preserves', () => {
  const json = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.string({ unit: 'binary' }),
      fc.integer(),
      fc
        .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
        .map((n) => (Number.isSafeInteger(Number(n)) ? Number(n) : n)),
      fc
        .double({ noNaN: true, noDefaultInfinity: true })
        .map((n) => (Number.isInteger(n) ? n % 1e9 : n) || 0),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.string(), tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  })).value;

  test('objects of any shape, in few chunks or many', () => {
    fc.assert(
      fc.property(
        fc.array(json, { maxLength: 12 }),
        fc.constantFrom(300, 500, 4000, undefined),
        (values, most) => {
          const objects = values.map((spec, i) => ({ ...configMap(`o${i}`), spec }));
          const encoder = new ChunkEncoder(most);
          const steps = [...objects.map((object) => encoder.add(object)), encoder.end()];
          if (steps.some(({ kind }) => kind === 'tooLarge')) return;
          const chunks = steps.flatMap((step) => (step.kind === 'chunks' ? step.chunks : []));
          expect(equal(decodeAll(chunks).map(asJson), objects.map(asJson))).toBe(true);
          for (const { sizeBytes } of chunks) expect(sizeBytes).toBeLessThanOrEqual(most ?? MAX_CHUNK_BYTES);
        },
      ),
      { numRuns: 150 },
    );
  });

  test.each<[string, Json]>([
    ['2^53 + 1', 9_007_199_254_740_993n],
    ['the smallest and the largest int64', [-(2n ** 63n), 2n ** 63n - 1n]],
    ['fractions', [0.1, 1e300, -2.5e-7]],
    ['Unicode', 'Zürich 東京 🚀 \u0000 \u2028 e\u0301'],
    ['a key that is a prototype name', JSON.parse('{"__proto__":{"a":1},"constructor":2}') as Json],
    ['digits in a string', 'x: 12345678901234567890'],
  ])('%s', (_what, value) => {
    const object = { ...configMap('odd'), value };
    const [decoded] = decodeAll(encodeAll([object]));
    expect(equal(asJson(decoded!), asJson(object))).toBe(true);
    expect(decoded!['value']).toEqual(value);
  });

  test('binary data of a Secret', () => {
    const data = { all: encodeBase64(Uint8Array.from({ length: 256 }, (_, i) => i)) };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, type: 'Opaque', data };
    expect(decodeAll(encodeAll([secret]))).toEqual([secret]);
  });

  test('an empty list as one empty chunk', () => {
    const chunks = encodeAll([]);
    expect(chunks.map(({ objectsCount }) => objectsCount)).toEqual([0]);
    expect(decodeAll(chunks)).toEqual([]);
  });
});

describe('chunk limits', () => {
  const counts = (chunks: readonly EncodedChunk[]) => chunks.map(({ objectsCount }) => objectsCount);

  /** The limit at which both objects exactly fit together. */
  const two = [configMap('a', { x: noise(600, 1) }), configMap('b', { x: noise(600, 2) })];
  const together = encodeAll(two)[0]!.sizeBytes;

  test('two objects that exactly fit are in one chunk', () =>
    expect(counts(encodeAll(two, together))).toEqual([2]));
  test('two objects that exceed the limit by one byte are in two chunks', () =>
    expect(counts(encodeAll(two, together - 1))).toEqual([1, 1]));

  const one = configMap('huge', { x: noise(5000) });
  const alone = encodeAll([one])[0]!.sizeBytes;
  test('an object that exactly fits is a chunk', () => expect(counts(encodeAll([one], alone))).toEqual([1]));
  test('an object that exceeds the limit by one byte is reported by name', () => {
    const encoder = new ChunkEncoder(alone - 1);
    expect(encoder.add(one)).toEqual({
      kind: 'tooLarge',
      object: 'v1 ConfigMap default/huge',
      why: `compressed it has ${alone} bytes, a chunk holds ${alone - 1}`,
    });
  });
  test('an object that is too large is also reported among other objects', () => {
    const encoder = new ChunkEncoder(alone - 1);
    encoder.add(configMap('small', { x: noise(3000, 7) }));
    expect(encoder.add(one)).toMatchObject({ kind: 'tooLarge', object: 'v1 ConfigMap default/huge' });
  });

  test('base64 of a full chunk has exactly the length that the schema allows', () => {
    expect(MAX_CHUNK_BYTES).toBe(786_432);
    expect(encodeBase64(new Uint8Array(MAX_CHUNK_BYTES))).toHaveLength(1_048_576);
  });

  test('chunks contain every object once, in order, and are nearly full', () => {
    const objects = Array.from({ length: 400 }, (_, i) =>
      configMap(`c${i}`, { x: noise(100 + (i % 7) * 50, i + 1) }),
    );
    const chunks = encodeAll(objects, 8000);
    expect(decodeAll(chunks)).toEqual(objects);
    for (const { sizeBytes } of chunks.slice(0, -1)) expect(sizeBytes).toBeGreaterThan(0.75 * 8000);
  });

  test('wrong estimates of the compression ratio do not exceed the limit', () => {
    const spaces = Array.from({ length: 40 }, (_, i) => configMap(`s${i}`, { x: ' '.repeat(4000) }));
    const loud = Array.from({ length: 40 }, (_, i) => configMap(`n${i}`, { x: noise(700, i + 1) }));
    for (const objects of [
      [...spaces, ...loud],
      [...loud, ...spaces],
      spaces.flatMap((s, i) => [s, loud[i]!]),
    ]) {
      const chunks = encodeAll(objects, 5000);
      expect(decodeAll(chunks)).toEqual(objects);
      for (const { sizeBytes } of chunks) expect(sizeBytes).toBeLessThanOrEqual(5000);
    }
  });

  test('chunk boundaries depend only on the objects since the last boundary', () => {
    const objects = Array.from({ length: 60 }, (_, i) => configMap(`c${i}`, { x: noise(300, i + 1) }));
    const [first, ...rest] = encodeAll(objects, 3000);
    expect(encodeAll(objects.slice(first!.objectsCount), 3000)).toEqual(rest);
  });
});

describe('damaged chunks', () => {
  const [good] = encodeAll([configMap('a'), configMap('b')]) as [EncodedChunk];
  const raw = (json: string | Uint8Array): EncodedChunk => {
    const bytes = gzip(typeof json === 'string' ? utf8(json) : json);
    return { ...good, data: encodeBase64(bytes), checksum: sha256(bytes), sizeBytes: bytes.length };
  };
  const spec = (more: object) => ({
    ...chunkObject('mcp-1', 0, good),
    spec: { ...chunkObject('mcp-1', 0, good).spec!, ...more },
  });
  const flipped = `${good.data.slice(0, 40)}${good.data[40] === 'A' ? 'B' : 'A'}${good.data.slice(41)}`;

  test.each<[string, Parameters<typeof decodeChunk>[0], RegExp]>([
    ['no spec', { ...chunkObject('mcp-1', 0, good), spec: undefined } as never, /no spec/],
    ['of another checkpoint', chunkObject('mcp-2', 0, good), /of checkpoint mcp-2, not of mcp-1/],
    ['another index', chunkObject('mcp-1', 1, good), /index is 1, not 0/],
    ['a flipped bit', spec({ data: flipped }), /checksum is .* instead of/],
    ['an empty checksum', spec({ checksum: '' }), /its checksum is missing/],
    ['no checksum', spec({ checksum: undefined }), /its checksum is missing/],
    ['another checksum', spec({ checksum: 'f'.repeat(64) }), /instead of f{64}/],
    ['not base64', spec({ data: '***' }), /not base64/],
    ['not a string', spec({ data: 7 }), /characters or less/],
    ['too long', spec({ data: 'A'.repeat(1_048_577) }), /1048576 characters or less/],
    [
      'not gzip',
      spec({ data: encodeBase64(utf8('hello')), checksum: sha256(utf8('hello')) }),
      /cannot be unpacked: not gzip/,
    ],
    [
      'truncated gzip',
      (() => {
        const half = Buffer.from(good.data, 'base64').subarray(0, 30);
        return spec({ data: encodeBase64(half), checksum: sha256(half) });
      })(),
      /cannot be unpacked/,
    ],
    [
      'a gzip bomb',
      chunkObject('mcp-1', 0, raw(new Uint8Array(MAX_OBJECT_JSON + 1))),
      /unpacks to more than/,
    ],
    ['not JSON', chunkObject('mcp-1', 0, raw('[{]')), /JSON cannot be read/],
    ['not an array', chunkObject('mcp-1', 0, raw('{}')), /not an array/],
    ['fewer objects than it says', chunkObject('mcp-1', 0, raw('[]')), /holds 0 objects and counts 2/],
    ['numbers', chunkObject('mcp-1', 0, raw('[1,2]')), /item 0 is not an object of Kubernetes/],
    [
      'objects without metadata',
      chunkObject('mcp-1', 0, raw('[{"apiVersion":"v1","kind":"X"},{}]')),
      /item 0/,
    ],
  ])('%s', (_what, chunk, why) => {
    const decoded = decodeChunk(chunk, expected(0));
    expect(decoded.kind === 'damaged' ? decoded.why : 'believed').toMatch(why);
  });

  test('a chunk with a valid checksum of its own is damaged if the checkpoint has another one', () => {
    const chunk = chunkObject('mcp-1', 0, good);
    const other = { ...expected(0), checksum: 'f'.repeat(64) };
    expect(unpackChunk(chunk, other)).toMatchObject({ kind: 'damaged' });
    expect(unpackChunk(chunk, { ...expected(0), objectsCount: 3 })).toMatchObject({ kind: 'damaged' });
    const right = { ...expected(0), checksum: good.checksum, objectsCount: 2 };
    expect(unpackChunk(chunk, right)).toMatchObject({ kind: 'payload', sizeBytes: good.sizeBytes });
  });

  test('a chunk has checksums of the gzip bytes and of the JSON', () => {
    const bytes = Buffer.from(good.data, 'base64');
    expect(good.checksum).toBe(sha256(bytes));
    const payload = unpackChunk(chunkObject('mcp-1', 0, good), expected(0));
    expect(payload.kind === 'payload' && sha256(payload.json)).toBe(good.payloadChecksum);
  });
});

describe('names and order', () => {
  test('names derive from the uid and are short and valid DNS names', () => {
    const name = checkpointName('3a5c1b9e-0000-4000-8000-000000000001');
    expect(name).toMatch(/^mcp-[0-9a-f]{16}$/);
    expect(checkpointName('3a5c1b9e-0000-4000-8000-000000000001')).toBe(name);
    expect(checkpointName('3a5c1b9e-0000-4000-8000-000000000002')).not.toBe(name);
    expect(chunkName(name, 12)).toBe(`${name}-12`);
  });
  test('objects are ordered by apiVersion, kind, namespace and name', () => {
    const id = (text: string) => {
      const [apiVersion = '', kind = '', namespace = '', name = ''] = text.split('|');
      return { apiVersion, kind, namespace, name };
    };
    const order = [
      'apps/v1|Deployment|b|a',
      'v1|ConfigMap|a|b',
      'v1|ConfigMap|b|B',
      'v1|ConfigMap|b|a',
      'v1|Namespace||b',
    ];
    expect([...order].reverse().map(id).sort(compareIdentities)).toEqual(order.map(id));
    expect(compareIdentities(id('v1|A|b|c'), id('v1|A|b|c'))).toBe(0);
    expect(order.map((text) => describeIdentity(id(text)))).toContain('apps/v1 Deployment b/a');
  });
});

describe('manifests', () => {
  const finalizer = 'snapshot.storage.kubernetes.io/pvc-as-source-protection';
  const claim = (metadata: object): KubeObject => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata,
  });
  test.each<[string, object, object]>([
    ['managedFields are removed', { name: 'a', managedFields: [{}] }, { name: 'a' }],
    [
      'other metadata is kept',
      { name: 'a', uid: 'u', resourceVersion: '7', finalizers: ['x'] },
      { name: 'a', uid: 'u', resourceVersion: '7', finalizers: ['x'] },
    ],
    [
      'the finalizer of a running snapshot is removed',
      { finalizers: ['x', finalizer] },
      { finalizers: ['x'] },
    ],
    ['an empty list of finalizers is removed', { name: 'a', finalizers: [finalizer] }, { name: 'a' }],
  ])('%s', (_rule, metadata, kept) => {
    const source = claim(metadata);
    const before = structuredClone(source);
    expect(buildManifest(source)).toEqual(claim(kept));
    expect(source).toEqual(before);
  });
});
