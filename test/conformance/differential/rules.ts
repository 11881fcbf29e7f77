// Random CEL rules for a schema: about its type, about the old value, with every field of a rule.

import { isObject, type JsonObject } from '@lapse/kube/api/json';
import type { Picker } from '../apply/histories.ts';

const TEXT = [
  'self.size() < 5',
  "self != 'b'",
  "self.startsWith('a') || self == ''",
  "self.matches('^[a-z]*$')",
  'self == oldSelf',
  "self.contains('a') ? self.size() > 0 : true",
  "self in ['a', 'abc', 'b']",
  'self.lowerAscii() == self',
  "self.split('b').size() < 3",
];
const WRONG = [
  'self > 5',
  'self.',
  "self == 'x'",
  'has(self.nothing)',
  'self < 6',
  'self.size() < 2',
  'unknown(self)',
];

/** Mostly empty: a CRD with one invalid rule is refused as a whole. */
const odd = (pick: Picker, ...values: string[]): string[] => (pick.chance(0.1) ? values : []);
const NUMBER = ['self < 6', 'self >= oldSelf', 'self * 2 < 12', 'self != 3', 'self % 2 == 0 || self < 4'];
const LIST = [
  'self.size() < 3',
  'self.all(x, x == x)',
  'oldSelf.size() <= self.size()',
  'self.exists(x, true)',
  'self.map(x, x).size() == self.size()',
];
const MAP = ['size(self) < 2', "!('k' in self)", 'self.all(key, key.size() < 3)', 'has(self.k)'];
const OBJECT = ['true', 'false', 'self == oldSelf', 'dyn(self) == self', '1 / 0 == 1'];
const OTHER = ['true', 'self == self', 'type(self) == int'];

/** One or two. */
export function randomRules(schema: JsonObject, pick: Picker): JsonObject[] {
  return Array.from({ length: pick.one([1, 1, 2]) }, () => rule(schema, pick));
}

function rule(schema: JsonObject, pick: Picker): JsonObject {
  const expression = expressionFor(schema, pick);
  return {
    rule: expression,
    ...pick.maybe(
      {
        message: () => pick.one(['must be good', 'no', 'two words']),
        messageExpression: () =>
          pick.one(["'is ' + string(1)", "'odd'", "'a' + 'b'", ...odd(pick, "''", "'line\\nbreak'", '1')]),
        reason: () =>
          pick.one([
            'FieldValueInvalid',
            'FieldValueForbidden',
            'FieldValueRequired',
            'FieldValueDuplicate',
            ...odd(pick, 'Odd'),
          ]),
        fieldPath: () => fieldPath(schema, pick),
      },
      0.15,
    ),
    ...(expression.includes('oldSelf') && pick.chance(0.1) ? { optionalOldSelf: true } : {}),
  };
}

function expressionFor(schema: JsonObject, pick: Picker): string {
  if (pick.chance(0.04)) return pick.one(WRONG);
  if (schema['type'] === 'string') return pick.one(schema['enum'] ? TEXT.slice(0, 6) : TEXT);
  if (schema['type'] === 'integer') return pick.one(NUMBER);
  if (schema['type'] === 'number') return pick.one(['self < 6.0', 'self != 2.5', 'self < 6']);
  if (schema['type'] === 'array') return pick.one(LIST);
  if (isObject(schema['additionalProperties'])) return pick.one(MAP);
  if (schema['type'] === 'object') return pick.one([...aboutProperties(schema), ...OBJECT]);
  return pick.one(OTHER);
}

/** Rules over the existing properties. */
function aboutProperties(schema: JsonObject): string[] {
  const names = isObject(schema['properties']) ? Object.keys(schema['properties']) : [];
  return names.flatMap((name) => [
    `has(self.${name})`,
    `!has(self.${name}) || self.${name} == self.${name}`,
    `!has(oldSelf.${name}) || has(self.${name})`,
  ]);
}

function fieldPath(schema: JsonObject, pick: Picker): string {
  const names = isObject(schema['properties']) ? Object.keys(schema['properties']) : [];
  return pick.one(
    names.length === 0 || pick.chance(0.1) ? ['.nothing', 'odd', ''] : names.map((name) => `.${name}`),
  );
}
