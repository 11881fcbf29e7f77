// The labels that a selector matches, and invalid selectors.

import type { JsonObject } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import { isEmptySelector, selects, sortedSelector, validateLabelSelector } from './labelSelector.ts';

const LABELS = { a: '1', b: '2', ...(JSON.parse('{"constructor":"x"}') as object) };
const match = (key: string, operator: string, ...values: string[]): JsonObject => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 ? { values } : {}) }],
});

describe('selection', () => {
  test.each<[JsonObject | undefined, boolean | undefined]>([
    [undefined, false],
    [{}, true],
    [{ matchLabels: { a: '1' } }, true],
    [{ matchLabels: { a: '1', b: '1' } }, false],
    [match('a', 'In', '1', '2'), true],
    [match('a', 'In', '2'), false],
    [match('c', 'NotIn', '2'), true],
    [match('a', 'NotIn', '1'), false],
    [match('b', 'Exists'), true],
    [match('b', 'DoesNotExist'), false],
    [match('toString', 'Exists'), false],
    [match('constructor', 'In', 'x'), true],
    [match('a', 'Odd'), undefined],
    [{ matchLabels: { 'a b': '1' } }, undefined],
  ])('%j: %s', (selector, selected) => {
    expect(selects(selector, LABELS as Record<string, string>)).toBe(selected);
  });
});

test.each<[JsonObject, string[]]>([
  [match('a', 'In'), ['x.matchExpressions[0].values']],
  [match('a', 'Exists', '1'), ['x.matchExpressions[0].values']],
  [match('a', 'Gt', '1'), ['x.matchExpressions[0].operator']],
  [match('', 'Exists'), ['x.matchExpressions[0].key', 'x.matchExpressions[0].key']],
  [match('a', 'In', 'b c'), ['x.matchExpressions[0].values[0]']],
  [{ matchLabels: { a: 'b c' } }, ['x.matchLabels']],
])('%j is refused', (selector, fields) => {
  expect(validateLabelSelector(selector, 'x').map((e) => e.field)).toEqual(fields);
});

test('prints a selector like Go', () => {
  const selector = {
    matchExpressions: [{ operator: 'Exists', values: [], key: 'k' }],
    matchLabels: { b: '', a: '' },
  };
  expect(JSON.stringify(sortedSelector(selector))).toBe(
    '{"matchLabels":{"a":"","b":""},"matchExpressions":[{"key":"k","operator":"Exists"}]}',
  );
  expect([isEmptySelector({}), isEmptySelector(selector)]).toEqual([true, false]);
});
