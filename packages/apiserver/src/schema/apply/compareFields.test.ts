// Comparisons are cached by the text of the difference: objects that differ in other paths must not share an entry.

import type { JsonObject } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import { compareFields } from './compareFields.ts';
import { UNTYPED } from './fieldType.ts';

const paths = (left: JsonObject, right: JsonObject) => {
  const { added, modified, removed } = compareFields(UNTYPED, left, right);
  return { added: added.paths(), modified: modified.paths(), removed: removed.paths() };
};

const CASES: readonly [
  name: string,
  left: JsonObject,
  right: JsonObject,
  expected: ReturnType<typeof paths>,
][] = [
  ['nothing', { a: 1 }, { a: 1 }, { added: [], modified: [], removed: [] }],
  ['one of each', { a: 1, b: 1 }, { b: 2, c: 1 }, { added: ['.c'], modified: ['.b'], removed: ['.a'] }],
  ['two fields', {}, { a: 1, b: 1 }, { added: ['.a', '.b'], modified: [], removed: [] }],
  [
    'one field whose name looks like the text of two',
    {},
    { 'a+0,f:b': 1 },
    { added: ['.a+0,f:b'], modified: [], removed: [] },
  ],
  ['a field below another', { a: {} }, { a: { b: 1 } }, { added: ['.a.b'], modified: [], removed: [] }],
  ['a field next to another', { a: {} }, { a: {}, b: 1 }, { added: ['.b'], modified: [], removed: [] }],
  [
    'a prototype name',
    {},
    JSON.parse('{"__proto__":1}'),
    { added: ['.__proto__'], modified: [], removed: [] },
  ],
];

describe('differences', () => {
  // Twice: the second result comes from the cache.
  test.each([...CASES, ...CASES])('%s', (_name, left, right, expected) => {
    expect(paths(left, right)).toEqual(expected);
  });

  test('returns the identical difference for the same paths', () => {
    expect(compareFields(UNTYPED, { a: 1 }, { a: 2, b: 'x' })).toBe(
      compareFields(UNTYPED, { a: 'p' }, { a: 'q', b: 3 }),
    );
  });
});
