// The order of keys in which kube-apiserver writes the result of a patch: sorted in containers that the patch
// accessed, unchanged elsewhere.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import { builtins, typeOf } from './builtinFixture.ts';
import { applyJsonPatchInOrder, parseJsonPatch } from './jsonPatch.ts';
import { applyMergePatchInOrder } from './mergePatch.ts';
import { inStructOrder } from './structOrder.ts';

const DOCUMENT = { z: { y: 1, x: { b: 1, a: 2 } }, list: [{ d: 1, c: 2 }], k: 'x < y' };

describe('JSON patch', () => {
  test.each<[string, JsonObject[], string]>([
    ['nothing', [], '{"k":"x < y","list":[{"d":1,"c":2}],"z":{"y":1,"x":{"b":1,"a":2}}}'],
    [
      'sorts the path to a change, but not its siblings',
      [{ op: 'add', path: '/z/new', value: { q: 1, p: 2 } }],
      '{"k":"x < y","list":[{"d":1,"c":2}],"z":{"new":{"q":1,"p":2},"x":{"b":1,"a":2},"y":1}}',
    ],
    [
      'sorts a copy, which is written after its target path was accessed',
      [{ op: 'copy', from: '/z', path: '/z/copy' }],
      '{"k":"x < y","list":[{"d":1,"c":2}],"z":{"copy":{"x":{"b":1,"a":2},"y":1},"x":{"b":1,"a":2},"y":1}}',
    ],
    [
      'sorts all tested values',
      [{ op: 'test', path: '/z', value: { y: 1, x: { b: 1, a: 2 } } }],
      '{"k":"x < y","list":[{"d":1,"c":2}],"z":{"x":{"a":2,"b":1},"y":1}}',
    ],
    [
      'sorts tested values in a list',
      [{ op: 'test', path: '/list/0', value: { d: 1, c: 2 } }],
      '{"k":"x < y","list":[{"c":2,"d":1}],"z":{"y":1,"x":{"b":1,"a":2}}}',
    ],
  ])('%s', (_, operations, expected) => {
    expect(JSON.stringify(applyJsonPatchInOrder(DOCUMENT, parseJsonPatch(operations)))).toBe(expected);
  });

  test.each([
    [undefined, true],
    [true, false],
  ])('compares strings with markup in escaped form', (escapes, fails) => {
    const patch = parseJsonPatch([{ op: 'test', path: '/k', value: 'x < y' }]);
    const apply = () => applyJsonPatchInOrder(DOCUMENT, escapes ? { ...patch, escapes } : patch);
    if (fails) expect(apply).toThrow('testing value /k failed');
    else expect(apply).not.toThrow();
  });
});

test.each<[string, Json, string]>([
  ['sorts only the root', {}, '{"k":"x < y","list":[{"d":1,"c":2}],"z":{"y":1,"x":{"b":1,"a":2}}}'],
  ['sorts merged maps', { z: { y: null } }, '{"k":"x < y","list":[{"d":1,"c":2}],"z":{"x":{"b":1,"a":2}}}'],
  [
    'sorts replaced values',
    { list: [{ f: 1, e: null, d: 2 }] },
    '{"k":"x < y","list":[{"d":2,"f":1}],"z":{"y":1,"x":{"b":1,"a":2}}}',
  ],
])('merge patch: %s', (_, patch, expected) => {
  expect(JSON.stringify(applyMergePatchInOrder(DOCUMENT, patch))).toBe(expected);
});

test('writes struct fields as declared and map entries by key', () => {
  const pod = {
    spec: { restartPolicy: 'Never', containers: [{ image: 'i', name: 'c' }] },
    metadata: { labels: { b: '1', a: '2' }, name: 'x' },
    kind: 'Pod',
  };
  expect(JSON.stringify(inStructOrder(builtins, typeOf('v1/Pod'), pod))).toBe(
    '{"kind":"Pod","metadata":{"name":"x","labels":{"a":"2","b":"1"}},"spec":{"containers":[{"name":"c","image":"i"}],"restartPolicy":"Never"}}',
  );
});
