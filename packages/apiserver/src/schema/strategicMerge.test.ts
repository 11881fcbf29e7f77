import type { Json, JsonObject } from '@lapse/kube/api/json';
import { parseJson } from '@lapse/kube/api/jsonParse';
import { describe, expect, test } from 'vitest';
import { builtins, typeOf } from './builtinFixture.ts';
import { applyStrategicMerge, StrategicMergeError } from './strategicMerge.ts';

const merge = (original: JsonObject, patch: JsonObject, kind = 'v1/Pod'): JsonObject => {
  const before = JSON.stringify(original);
  try {
    return applyStrategicMerge(builtins, typeOf(kind), original, structuredClone(patch));
  } finally {
    expect(JSON.stringify(original)).toBe(before);
  }
};
const containers = (...names: string[]): JsonObject => ({
  spec: { containers: names.map((name) => ({ name, image: 'x:1' })) },
});
const namesOf = (pod: JsonObject): Json[] =>
  (pod.spec as { containers: { name: string }[] }).containers.map((c) => c.name);

describe('maps', () => {
  test.each<[string, JsonObject, JsonObject, JsonObject]>([
    [
      'merge',
      { metadata: { labels: { a: '1', b: '2' } } },
      { metadata: { labels: { a: null, c: '3' } } },
      { metadata: { labels: { b: '2', c: '3' } } },
    ],
    [
      '$patch replace',
      { metadata: { labels: { a: '1' } } },
      { metadata: { labels: { $patch: 'replace', b: '2' } } },
      { metadata: { labels: { b: '2' } } },
    ],
    [
      '$patch delete',
      { metadata: { labels: { a: '1' } } },
      { metadata: { labels: { $patch: 'delete' } } },
      { metadata: { labels: {} } },
    ],
    [
      'a new map loses nulls and directives',
      {},
      {
        spec: {
          securityContext: { fsGroup: null, sysctls: [{ $patch: 'delete', name: 'x' }, { name: 'y' }] },
        },
      },
      { spec: { securityContext: { sysctls: [{ name: 'y' }] } } },
    ],
    [
      'a value of another type replaces',
      { spec: { nodeSelector: { a: 'b' } } },
      { spec: { nodeSelector: 'x' } },
      { spec: { nodeSelector: 'x' } },
    ],
  ])('%s', (_, original, patch, expected) => {
    expect(merge(original, patch)).toEqual(expected);
  });
});

describe('lists of maps', () => {
  test('lists of maps merge by key', () => {
    expect(
      merge(containers('one', 'two'), { spec: { containers: [{ name: 'two', image: 'x:2' }] } }),
    ).toEqual({
      spec: {
        containers: [
          { name: 'one', image: 'x:1' },
          { name: 'two', image: 'x:2' },
        ],
      },
    });
  });
  test.each<[string, JsonObject, string[]]>([
    ['new elements come first', { containers: [{ name: 'c' }] }, ['c', 'a', 'b']],
    ['elements of the patch follow its order', { containers: [{ name: 'b' }, { name: 'a' }] }, ['b', 'a']],
    ['$patch delete', { containers: [{ name: 'a', $patch: 'delete' }] }, ['b']],
    [
      'an empty order changes nothing',
      { '$setElementOrder/containers': [], containers: [{ name: 'b' }] },
      ['a', 'b'],
    ],
    ['$patch replace', { containers: [{ name: 'c' }, { $patch: 'replace' }] }, ['c']],
    ['$setElementOrder', { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] }, ['b', 'a']],
    [
      '$setElementOrder with new elements',
      {
        '$setElementOrder/containers': [{ name: 'a' }, { name: 'c' }, { name: 'b' }],
        containers: [{ name: 'c' }],
      },
      ['a', 'c', 'b'],
    ],
  ])('%s', (_, spec, names) => {
    expect(namesOf(merge(containers('a', 'b'), { spec }))).toEqual(names);
  });
  test('lists without a merge key are replaced', () => {
    const original = { spec: { containers: [{ name: 'a', command: ['x', 'y'] }] } };
    expect(merge(original, { spec: { containers: [{ name: 'a', command: ['z'] }] } })).toEqual({
      spec: { containers: [{ name: 'a', command: ['z'] }] },
    });
  });
  test('$retainKeys keeps only the named keys', () => {
    const volumes = [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'c' } }];
    expect(merge({ spec: { volumes: [{ name: 'v', emptyDir: {} }] } }, { spec: { volumes } })).toEqual({
      spec: { volumes: [{ name: 'v', configMap: { name: 'c' } }] },
    });
  });
  test('owner references merge by uid', () => {
    const original = { metadata: { ownerReferences: [{ uid: '1' }, { uid: '2' }] } };
    const patch = { metadata: { ownerReferences: [{ $patch: 'delete', uid: '1' }] } };
    expect(merge(original, patch)).toEqual({ metadata: { ownerReferences: [{ uid: '2' }] } });
  });
});

describe('lists of scalars', () => {
  test.each<[string, JsonObject, string[]]>([
    ['are sets, new ones first', { finalizers: ['c'] }, ['c', 'a', 'b']],
    ['$deleteFromPrimitiveList', { '$deleteFromPrimitiveList/finalizers': ['a', 'x'] }, ['b']],
    ['$setElementOrder', { '$setElementOrder/finalizers': ['b', 'a'] }, ['b', 'a']],
    ['an empty list adds nothing', { finalizers: [] }, ['a', 'b']],
  ])('%s', (_, metadata, finalizers) => {
    expect(merge({ metadata: { finalizers: ['a', 'b'] } }, { metadata })).toEqual({
      metadata: { finalizers },
    });
  });
});

describe('errors', () => {
  test.each<[string, JsonObject, JsonObject, StrategicMergeError]>([
    [
      'an unknown directive',
      { metadata: { labels: {} } },
      { metadata: { labels: { $patch: 'dance' } } },
      new StrategicMergeError('unknown patch type: dance in map: map[$patch:dance]'),
    ],
    [
      'no merge key',
      containers('a'),
      { spec: { containers: [{ image: 'x:2' }] } },
      new StrategicMergeError('map: map[image:x:2] does not contain declared merge key: name'),
    ],
    [
      'an unknown directive in a list',
      containers('a'),
      { spec: { containers: [{ name: 'a', $patch: 5 }] } },
      new StrategicMergeError('unknown patch type: %!s(int64=5) in map: map[$patch:5 name:a]'),
    ],
    [
      'mixed elements',
      containers('a'),
      { spec: { containers: ['x'] } },
      new StrategicMergeError('list element types are not identical: [[map[image:x:1 name:a]] [x]]'),
    ],
    [
      'an unknown field',
      { spec: { bogus: {} } },
      { spec: { bogus: {} } },
      new StrategicMergeError('unable to find api field in struct PodSpec for the json field "bogus"'),
    ],
    [
      'an order that contradicts the patch',
      containers('a'),
      { spec: { '$setElementOrder/containers': [{ name: 'a' }], containers: [{ name: 'b' }] } },
      new StrategicMergeError(
        "The order in patch list:\n[map[name:b]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
      ),
    ],
    [
      'lists in lists',
      { metadata: { finalizers: ['a'] } },
      { metadata: { finalizers: [['a']] } },
      new StrategicMergeError('list element types are not identical: [[a] [[a]]]'),
    ],
    [
      'lists that contain only lists',
      { metadata: { finalizers: [] } },
      { metadata: { finalizers: [['a']] } },
      new StrategicMergeError('lists of lists are not supported', 'unprocessable'),
    ],
    [
      'a malformed $retainKeys',
      { spec: { volumes: [{ name: 'v' }] } },
      { spec: { volumes: [{ name: 'v', $retainKeys: 'x' }] } },
      new StrategicMergeError('invalid patch format of retainKeys', 'malformed'),
    ],
    [
      'a malformed $deleteFromPrimitiveList',
      {},
      { $deleteFromPrimitiveList: [] },
      new StrategicMergeError('invalid patch format of primitive list', 'malformed'),
    ],
    [
      'an order that is no list',
      {},
      { metadata: { '$setElementOrder/finalizers': 'x' } },
      new StrategicMergeError('expected a []interface {}, but received a string'),
    ],
  ])('%s', (_, original, patch, error) => {
    // The directive is only evaluated when there is a value to merge with.
    const target = { metadata: {}, ...original };
    expect(() => merge(target, patch)).toThrow(error);
  });
});

test.each<[string, JsonObject, JsonObject]>([
  [
    'a directive to replace',
    { metadata: { labels: { $patch: 'replace', b: '2' } } },
    { metadata: { labels: { b: '2' } } },
  ],
  ['retained keys', { metadata: { $retainKeys: ['labels'], labels: {} } }, { metadata: { labels: {} } }],
  ['nulls in new maps', { spec: { a: null, b: { c: null } } }, { spec: { b: {} } }],
  ['deletions in new maps', { spec: { b: { c: { $patch: 'delete' } } } }, { spec: { b: {} } }],
  [
    'an order and its list',
    { metadata: { finalizers: ['b/b'], '$setElementOrder/finalizers': ['b/b', 'a/a'] } },
    { metadata: {} },
  ],
  [
    'nothing where the original is merged',
    { metadata: { labels: { a: null } } },
    { metadata: { labels: { a: null } } },
  ],
])('removes %s from the patch', (_, patch, rest) => {
  applyStrategicMerge(
    builtins,
    typeOf('v1/Pod'),
    { metadata: { labels: { a: '1' }, finalizers: ['a/a'] } },
    patch,
  );
  expect(patch).toEqual(rest);
});

test('__proto__ and constructor are ordinary keys', () => {
  const patch = parseJson('{"metadata":{"labels":{"__proto__":"x","constructor":"y"}}}').value as JsonObject;
  const result = merge({ metadata: { labels: { a: '1' } } }, patch) as { metadata: { labels: object } };
  expect(Object.keys(result.metadata.labels).sort()).toEqual(['__proto__', 'a', 'constructor']);
});
