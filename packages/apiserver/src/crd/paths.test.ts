import type { JsonObject } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import { integerAt, setAt, splitPath, stringAt } from './paths.ts';
import { validateScaleSpec, validateScaleStatus } from './scaleChecks.ts';

const object: JsonObject = { spec: { n: 3, s: 'x', o: {}, big: 2n ** 40n, f: 1.5, z: null } };

describe('values at a path', () => {
  test.each<[string, number | undefined | string]>([
    ['.spec.n', 3],
    ['.spec.big', 2 ** 40],
    ['.spec.none', undefined],
    ['.none.n', undefined],
    ['.spec.s', '.spec.s accessor error: x is of the type string, expected int64'],
    ['.spec.f', '.spec.f accessor error: 1.5 is of the type float64, expected int64'],
    ['.spec.z', '.spec.z accessor error: <nil> is of the type <nil>, expected int64'],
    ['.spec.o', '.spec.o accessor error: map[] is of the type map[string]interface {}, expected int64'],
    ['.spec.n.x', '.spec.n.x accessor error: 3 is of the type int64, expected map[string]interface{}'],
    ['.spec.__proto__', undefined],
    ['.spec.constructor', undefined],
  ])('%s is %s', (path, value) => {
    const read = () => integerAt(object, splitPath(path));
    if (typeof value === 'string') expect(read).toThrow(value);
    else expect(read()).toBe(value);
  });

  test('reads strings', () => {
    expect(stringAt(object, splitPath('.spec.s'))).toBe('x');
    expect(() => stringAt(object, splitPath('.spec.n'))).toThrow('3 is of the type int64, expected string');
  });

  test('creates missing parents and rejects a parent that is not an object', () => {
    const target: JsonObject = { spec: { a: 1 } };
    setAt(target, splitPath('.spec.b.c'), 5);
    expect(target).toEqual({ spec: { a: 1, b: { c: 5 } } });
    expect(() => setAt(target, splitPath('.spec.a.c'), 5)).toThrow(
      'value cannot be set because .spec.a is not a map[string]interface{}',
    );
  });

  test('cannot reach a prototype', () => {
    const target: JsonObject = {};
    setAt(target, splitPath('.__proto__.polluted'), 1);
    expect(({} as JsonObject)['polluted']).toBeUndefined();
    expect(Object.keys(target)).toEqual(['__proto__']);
  });
});

describe('validation of scale fields', () => {
  const scale = {
    specReplicasPath: '.spec.n',
    statusReplicasPath: '.status.n',
    labelSelectorPath: '.status.s',
  };
  test.each<[string, JsonObject, string[]]>([
    ['no fields', {}, []],
    ['the largest int32', { spec: { n: 2 ** 31 - 1 } }, []],
    [
      'more than the largest int32',
      { spec: { n: 2 ** 31 } },
      ['.spec.n: Invalid value: 2147483648: should be less than or equal to 2147483647'],
    ],
    [
      'negative replicas',
      { spec: { n: -1 } },
      ['.spec.n: Invalid value: -1: should be a non-negative integer'],
    ],
    [
      'a string for a number',
      { spec: { n: 'x' } },
      ['.spec.n: Invalid value: 0: .spec.n accessor error: x is of the type string, expected int64'],
    ],
    [
      'a number for a selector',
      { status: { n: 1, s: 1 } },
      ['.status.s: Invalid value: "": .status.s accessor error: 1 is of the type int64, expected string'],
    ],
  ])('%s', (_, value, errors) => {
    const found = [...validateScaleSpec(value, scale), ...validateScaleStatus(value, scale)];
    expect(found.map((e) => `${e.field}: ${e.message}`)).toEqual(errors);
  });
});
