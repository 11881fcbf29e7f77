import type { Json } from '@lapse/kube/api/json';
import { expect, test } from 'vitest';
import { diff } from './compare.ts';
import { fill, textFits } from './templates.ts';
import { tidy } from './tidy.ts';

const vars = { ns: 'w-1', rv: '41' };
const UID = '0a1b2c3d-0000-4000-8000-0123456789ab';

test.each<[string, string, Json | undefined, boolean]>([
  ['plain text is equal text', 'a', 'a', true],
  ['a dot is a dot', 'a.b{{ns}}', 'axbw-1', false],
  ['a variable is its value', 'in {{ns}}!', 'in w-1!', true],
  ['a variable is nothing else', 'in {{ns}}!', 'in w-2!', false],
  ['an unknown variable is itself', '{{who}}', 'me', false],
  ['a uid anywhere in a text', 'uid {{any:uid}}.', `uid ${UID}.`, true],
  ['a uid is not any text', '{{any:uid}}', 'x', false],
  ['a version is a text of digits', '{{any:rv}}', '12', true],
  ['a version is not a number', '{{any:rv}}', 12, false],
  ['any value but none', '{{any}}', undefined, false],
  ['null is a value', '{{any}}', null, true],
  ['an int is whole', '{{any:int}}', 1.5, false],
  ['an object is not a list', '{{any:object}}', [], false],
  ['greater, as numbers of any size', '{{gt:rv}}', '100', true],
  ['equal is not greater', '{{gt:rv}}', '41', false],
  ['anything but the variable', '{{not:rv}}', '41', false],
  ['pads are counted', '{{pad:3}}b', 'aaab', true],
  ['a placeholder matches across lines', 'a{{any:string}}', 'a\nb', true],
])('%s', (_, expected, actual, fits) => {
  expect(textFits(expected, actual, vars)).toBe(fits);
});

const compare = (expected: Json, actual: Json, subset: boolean) =>
  diff(expected, actual, { vars, subset, path: 'body' });

test.each<[string, Json, Json, boolean, string | undefined]>([
  ['an extra key in a body', { a: 1 }, { a: 1, b: 2 }, false, 'body.b: unexpected, got 2'],
  ['an extra key in a match', { a: 1 }, { a: 1, b: 2 }, true, undefined],
  ['a missing key', { a: 1 }, {}, true, 'body.a: expected 1, got (absent)'],
  [
    'a key that must be absent',
    { a: '{{absent}}' },
    { a: null },
    true,
    'body.a: expected it to be absent, got null',
  ],
  ['a key that is absent', { a: '{{absent}}' }, {}, false, undefined],
  ['a key with a variable', { 'x-{{ns}}': 1 }, { 'x-w-1': 2 }, true, 'body.x-w-1: expected 1, got 2'],
  ['a longer list', [1], [1, 2], true, 'body: expected 1 elements, got 2 (2 is the first extra one)'],
  ['a shorter list', [1, 2], [1], true, 'body: expected 2 elements, got 1 (2 is the first missing one)'],
  ['one element among others', { $contains: [{ a: 1 }] }, [{ a: 2 }, { a: 1, b: 3 }], false, undefined],
  [
    'a nearby element',
    { $contains: [{ name: 'x', a: 1 }] },
    [{ name: 'x', a: 2 }],
    true,
    'body[x].a: expected 1, got 2',
  ],
  ['no such element', { $contains: ['x'] }, ['y'], true, 'body: no element matches "x"'],
  ['an unwanted element', { $lacks: ['x'] }, ['x'], true, 'body: has an element matching "x"'],
  ['no list to lack anything', { l: { $lacks: ['x'] } }, {}, true, undefined],
  ['null is not absent', { a: null }, {}, true, 'body.a: expected null, got (absent)'],
  [
    'an own key that prototypes have',
    { constructor: 1 },
    {},
    true,
    'body.constructor: expected 1, got (absent)',
  ],
])('%s', (_, expected, actual, subset, difference) => {
  expect(compare(expected, actual, subset)).toBe(difference);
});

test('fill replaces in keys, values and lists, and keeps placeholders of expectations', () => {
  expect(fill({ '{{ns}}': ['{{ns}}', '{{any:uid}}', 1] }, vars)).toEqual({
    'w-1': ['w-1', '{{any:uid}}', 1],
  });
});

test('tidy drops managedFields, or sorts them by manager when they are kept', () => {
  const object = { metadata: { managedFields: [{ manager: 'b' }, { manager: 'a' }], name: 'x' } };
  expect(tidy(object, false)).toEqual({ metadata: { name: 'x' } });
  expect(tidy(object, true)).toEqual({
    metadata: { managedFields: [{ manager: 'a' }, { manager: 'b' }], name: 'x' },
  });
});
