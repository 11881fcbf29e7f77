import type { Json } from '@lapse/kube/api/json';
import { expect, test } from 'vitest';
import { bareSelectorText, labelsText, selectorStruct, selectorText } from './selectorText.ts';

const where = (key: string, operator: string, values?: string[]) => ({
  matchExpressions: [{ key, operator, ...(values ? { values } : {}) }],
});

test.each<[Json | undefined, string]>([
  [undefined, '<none>'],
  [{}, '<none>'],
  [{ matchLabels: { b: '2', a: '1' } }, 'a=1,b=2'],
  [where('k', 'In', ['y', 'x']), 'k in (x,y)'],
  [where('k', 'NotIn', ['x']), 'k notin (x)'],
  [where('k', 'Exists'), 'k'],
  [where('k', 'DoesNotExist'), '!k'],
  [where('k', 'In', []), '<error>'],
  [where('k', 'Exists', ['x']), '<error>'],
  [where('k', 'Near', ['x']), '<error>'],
  [{ matchLabels: { m: '1' }, ...where('a', 'Exists') }, 'a,m=1'],
  ['text', '<none>'],
])('the selector %j reads %s', (selector, text) => {
  expect(selectorText(selector)).toBe(text);
});

test.each<[Json | undefined, string]>([
  [undefined, ''],
  [{}, ''],
  [{ matchLabels: { a: '1' } }, 'a=1'],
  [where('k', 'Near'), '<invalid>'],
])('the bare selector %j reads %s', (selector, text) => {
  expect(bareSelectorText(selector)).toBe(text);
});

test.each<[Json | undefined, string]>([
  [undefined, '<none>'],
  [{}, '<none>'],
  [{ b: '2', a: '' }, 'a=,b=2'],
])('the labels %j read %s', (labels, text) => {
  expect(labelsText(labels)).toBe(text);
});

test('prints a selector struct like Go', () => {
  expect(selectorStruct({ matchLabels: { a: '1' }, ...where('k', 'In', ['x', 'y']) })).toBe(
    '&LabelSelector{MatchLabels:map[string]string{a: 1,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}',
  );
});
