import { estimateCost } from '@lapse/cel/cel';
import type { JsonObject } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import { checkSchemaRules } from './check.ts';
import { escapeName } from './escape.ts';
import { compileSchemaRules } from './evaluate.ts';

const int = { type: 'integer' };
const spec = (properties: JsonObject, ...rules: JsonObject[]): JsonObject => ({
  type: 'object',
  properties: { spec: { type: 'object', properties, 'x-kubernetes-validations': rules } },
});

const run = (schema: JsonObject, object: JsonObject, old?: JsonObject) => {
  const { errors, warnings } = compileSchemaRules(schema)!({ object, old });
  return [...errors.map((e) => `${e.field}: ${e.message}`), ...warnings.map((w) => `warning ${w}`)];
};

const check = (schema: JsonObject, unchanged = false) =>
  checkSchemaRules({
    schema,
    path: 'schema',
    sound: () => true,
    unchanged,
    estimate: (program) => estimateCost(program).max,
  }).map((e) => `${e.field}: ${e.message}`);

describe('evaluating', () => {
  const ordered = spec({ a: int, b: int }, { rule: 'self.a < self.b', message: 'order' });
  const immutable = {
    type: 'object',
    properties: { a: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] } },
  };
  const bounded = {
    type: 'object',
    properties: { n: { ...int, 'x-kubernetes-validations': [{ rule: 'self < 5', message: 'big' }] } },
  };

  test.each<[string, JsonObject, JsonObject, JsonObject | undefined, string[]]>([
    ['a satisfied rule reports nothing', ordered, { spec: { a: 1, b: 2 } }, undefined, []],
    [
      'a violated rule names its node, not the value',
      ordered,
      { spec: { a: 2, b: 1 } },
      undefined,
      ['spec: Invalid value: order'],
    ],
    [
      'an evaluation error rejects the object',
      ordered,
      { spec: { a: 2 } },
      undefined,
      ['spec: Invalid value: "object": no such key: b evaluating rule: order'],
    ],
    ['rules of an absent node do not run', ordered, {}, undefined, []],
    ['rules do not run on null', ordered, { spec: null }, undefined, []],
    [
      'a null property is absent',
      spec({ a: { type: 'string', nullable: true } }, { rule: 'has(self.a)' }),
      { spec: { a: null } },
      undefined,
      ['spec: Invalid value: failed rule: has(self.a)'],
    ],
    ['transition rules need an old value', immutable, { a: 'x' }, undefined, []],
    [
      'transition rules compare',
      immutable,
      { a: 'y' },
      { a: 'x' },
      ['a: Invalid value: "y": failed rule: self == oldSelf'],
    ],
    ['a new field has no old value', immutable, { a: 'x' }, {}, []],
    [
      'a violation of an unchanged value is a warning',
      bounded,
      { n: 9, x: 1 },
      { n: 9 },
      ['warning n: Invalid value: 9: big'],
    ],
    ['a changed value must satisfy the rule', bounded, { n: 8 }, { n: 9 }, ['n: Invalid value: 8: big']],
    [
      'prototype names are ordinary properties',
      spec({ constructor: int }, { rule: 'self.constructor == 1' }),
      { spec: {} },
      undefined,
      ['spec: Invalid value: "object": no such key: constructor evaluating rule: self.constructor == 1'],
    ],
  ])('%s', (_, schema, object, old, expected) => {
    expect(run(schema, object, old)).toEqual(expected);
  });

  test('rules share one budget, and exceeding it stops the evaluation', () => {
    const list = { type: 'array', items: { type: 'string' } };
    const costly = { rule: 'self.l.all(x, self.l.all(y, self.l.all(z, size(x + y + z) > 0)))' };
    const l = Array.from({ length: 300 }, (_, i) => String(i));
    const errors = run(spec({ l: list }, costly, costly), { spec: { l } });
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(/no further validation rules will be run/);
  });

  test('a schema without rules compiles to undefined', () => {
    expect(compileSchemaRules({ type: 'object', properties: { a: int } })).toBeUndefined();
  });
});

describe('checking a CRD', () => {
  const at = 'schema.properties[spec].x-kubernetes-validations[0]';

  test.each<[string, JsonObject, RegExp[]]>([
    ['accepts a rule that compiles', spec({ a: int }, { rule: 'self.a > 1' }), []],
    [
      'an unknown field',
      spec({ a: int }, { rule: 'self.b > 1' }),
      [/\.rule: Invalid value: .*undefined field 'b'/s],
    ],
    ['a rule that is not a boolean', spec({ a: int }, { rule: 'self.a' }), [/must evaluate to a bool/]],
    [
      'a messageExpression that is not a string',
      spec({ a: int }, { rule: 'self.a > 1', messageExpression: 'self.a' }),
      [/\.messageExpression: .*must evaluate to a string/],
    ],
    [
      'optionalOldSelf without oldSelf',
      spec({ a: int }, { rule: 'self.a > 1', optionalOldSelf: true }),
      [/may not be set if oldSelf is not used/],
    ],
    [
      'untyped fields are not visible',
      spec({ a: { 'x-kubernetes-preserve-unknown-fields': true } }, { rule: 'has(self.a)' }),
      [/undefined field 'a'/],
    ],
  ])('%s', (_, schema, expected) => {
    const errors = check(schema);
    expect(errors).toHaveLength(expected.length);
    for (const [i, pattern] of expected.entries()) {
      expect(errors[i]).toMatch(pattern);
      expect(errors[i]).toContain(at);
    }
  });

  const text = { type: 'string' };
  const nested = spec(
    { l: { type: 'array', items: text } },
    { rule: 'self.l.all(x, self.l.all(y, x == y))' },
  );

  test('rejects a rule and a schema above the cost limit', () => {
    const errors = check(nested);
    expect(errors[0]).toMatch(
      /\.rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x/,
    );
    expect(errors.at(-1)).toMatch(/^schema: Forbidden: x-kubernetes-validations estimated rule cost total/);
  });

  test('on an unchanged schema only the total cost limit applies', () => {
    expect(check(nested, true).some((e) => e.includes('estimated rule cost exceeds'))).toBe(false);
  });

  test('limits in the schema reduce the estimated cost', () => {
    const small = { type: 'array', maxItems: 10, items: { ...text, maxLength: 10 } };
    expect(check(spec({ l: small }, { rule: 'self.l.all(x, self.l.all(y, x == y))' }))).toEqual([]);
  });
});

test.each([
  ['plain', 'plain'],
  ['a-b', 'a__dash__b'],
  ['a.b/c', 'a__dot__b__slash__c'],
  ['in', '__in__'],
  ['a__b', 'a__underscores__b'],
  ['1a', undefined],
  ['a b', undefined],
  ['', undefined],
])('escapes the property %j as %s', (name, expected) => {
  expect(escapeName(name)).toBe(expected);
});
