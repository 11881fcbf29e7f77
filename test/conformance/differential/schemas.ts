// Random structural schemas with every kind of validation, and values that match them or almost do.

import { clone, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { Picker } from '../apply/histories.ts';
import { randomRules } from './rules.ts';

const NAMES = ['alpha', 'beta', 'gamma', 'delta', 'size', 'mode', 'items', 'ports', 'note'];
const DEEPEST = 3;
const TEXTS = ['', 'a', 'b', 'abc', 'A', 'x-1', 'long text here', 'éé'];

type Make = (pick: Picker, depth: number) => JsonObject;

const text: Make = (pick) => ({
  type: 'string',
  ...pick.maybe(
    {
      minLength: () => pick.int(3),
      maxLength: () => 2 + pick.int(8),
      pattern: () => pick.one(['^[a-z]*$', '^a', '[0-9]+', '^(a|b|abc)?$']),
      enum: () => ['a', 'b', 'abc'],
      format: () =>
        pick.one([
          'date-time',
          'date',
          'uri',
          'email',
          'ipv4',
          'uuid',
          'byte',
          'duration',
          'odd',
          'hostname',
        ]),
    },
    0.2,
  ),
});

const integer: Make = (pick) => ({
  type: 'integer',
  ...pick.maybe(
    {
      minimum: () => pick.int(3),
      maximum: () => 3 + pick.int(5),
      multipleOf: () => pick.one([1, 2, 3]),
      format: () => pick.one(['int32', 'int64']),
      enum: () => [1, 2, 4],
    },
    0.2,
  ),
  ...(pick.chance(0.1) ? { minimum: 1, exclusiveMinimum: true } : {}),
});

const number: Make = (pick) => ({
  type: 'number',
  ...pick.maybe(
    { minimum: () => 0.5, maximum: () => 7.25, multipleOf: () => 0.5, format: () => 'double' },
    0.25,
  ),
});

const boolean: Make = () => ({ type: 'boolean' });
const intOrString: Make = (pick) => ({
  'x-kubernetes-int-or-string': true,
  ...pick.maybe({ pattern: () => '^[0-9]+%?$', maximum: () => 10 }, 0.2),
});
const free: Make = () => ({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true });
const embedded: Make = (pick) => ({
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  ...(pick.chance(0.5)
    ? { 'x-kubernetes-preserve-unknown-fields': true }
    : { properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } } }),
});

const map: Make = (pick, depth) => ({
  type: 'object',
  additionalProperties: schemaAt(pick, depth + 1),
  ...pick.maybe(
    { minProperties: () => 1, maxProperties: () => 1 + pick.int(3), 'x-kubernetes-map-type': () => 'atomic' },
    0.2,
  ),
});

export const object: Make = (pick, depth) => {
  const names = pick.some(NAMES).slice(0, 5);
  const properties = Object.fromEntries(names.map((name) => [name, schemaAt(pick, depth + 1)]));
  const required = names.filter(() => pick.chance(0.15));
  return {
    type: 'object',
    properties,
    ...(required.length > 0 ? { required } : {}),
    ...combined(names, pick),
  };
};

/** Conditions over properties of the structural part. */
function combined(names: readonly string[], pick: Picker): JsonObject {
  if (names.length < 2 || !pick.chance(0.12)) return {};
  const [first, second] = [names[0]!, names[1]!];
  return pick.one<JsonObject>([
    { anyOf: [{ required: [first] }, { required: [second] }] },
    { oneOf: [{ required: [first] }, { required: [second] }] },
    { not: { required: [first, second] } },
    { allOf: [{ required: [first] }] },
  ]);
}

const list: Make = (pick, depth) => {
  const roll = pick.int(4);
  const limits = pick.maybe({ minItems: () => 1, maxItems: () => 1 + pick.int(4) }, 0.3);
  if (roll === 0)
    return { type: 'array', items: text(pick, depth), 'x-kubernetes-list-type': 'set', ...limits };
  if (roll > 1) return { type: 'array', items: schemaAt(pick, depth + 1), ...limits };
  const key = { type: 'string', ...(pick.chance(0.3) ? { default: 'k' } : {}) };
  const items = {
    type: 'object',
    properties: { name: { type: 'string' }, key, value: schemaAt(pick, DEEPEST) },
    required: 'default' in key ? ['name'] : ['name', 'key'],
  };
  return {
    type: 'array',
    items,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name', 'key'],
    ...limits,
  };
};

const LEAVES: readonly Make[] = [text, text, integer, integer, number, boolean, intOrString];
const BRANCHES: readonly Make[] = [object, object, list, list, map, free, embedded];

function schemaAt(pick: Picker, depth: number): JsonObject {
  const make = depth >= DEEPEST || pick.chance(0.6) ? pick.one(LEAVES) : pick.one(BRANCHES);
  const schema = make(pick, depth);
  if (pick.chance(0.12)) schema['nullable'] = true;
  if (pick.chance(0.12)) schema['default'] = fitting(schema, pick);
  if (pick.chance(0.2)) schema['x-kubernetes-validations'] = randomRules(schema, pick);
  return schema;
}

/** A value that matches the schema most of the time. */
export function fitting(schema: JsonObject, pick: Picker): Json {
  if (schema['nullable'] === true && pick.chance(0.1)) return null;
  if (Array.isArray(schema['enum'])) return pick.one(schema['enum']);
  if (schema['x-kubernetes-int-or-string'] === true) return pick.one<Json>([1, 5, '10%', '7']);
  switch (schema['type']) {
    case 'string':
      return fittingText(schema, pick);
    case 'integer':
      return pick.int(7);
    case 'number':
      return pick.one([0.5, 1, 2.5, 7]);
    case 'boolean':
      return pick.chance(0.5);
    case 'array':
      return Array.from({ length: 1 + pick.int(2) }, (_, i) =>
        element(schema['items'] as JsonObject, i, pick),
      );
    default:
      return fittingObject(schema, pick);
  }
}

const FORMATTED: Readonly<Record<string, string>> = {
  'date-time': '2024-01-01T00:00:00Z',
  date: '2024-01-01',
  uri: 'https://example.com/x',
  email: 'a@example.com',
  ipv4: '10.0.0.1',
  uuid: '11111111-2222-3333-4444-555555555555',
  byte: 'aGk=',
  duration: '5m',
};

function fittingText(schema: JsonObject, pick: Picker): string {
  const format = schema['format'];
  if (typeof format === 'string' && Object.hasOwn(FORMATTED, format) && pick.chance(0.8))
    return FORMATTED[format]!;
  return pick.one(['a', 'b', 'abc', 'abc', ...TEXTS]);
}

function element(items: JsonObject, index: number, pick: Picker): Json {
  const value = fitting(items, pick);
  if (isObject(value) && isObject(items['properties']) && 'key' in items['properties'])
    value['name'] = ['x', 'y', 'z'][index]!;
  return value;
}

function fittingObject(schema: JsonObject, pick: Picker): JsonObject {
  if (schema['x-kubernetes-embedded-resource'] === true)
    return { apiVersion: 'v1', kind: 'Any', metadata: { name: 'inner' }, spec: { a: 'x' } };
  if (isObject(schema['additionalProperties'])) {
    const values = schema['additionalProperties'];
    return pick.maybe({ k: () => fitting(values, pick), l: () => fitting(values, pick) }, 0.6);
  }
  const properties = isObject(schema['properties']) ? schema['properties'] : { any: { type: 'string' } };
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const out: JsonObject = {};
  for (const [name, inner] of Object.entries(properties))
    if (required.includes(name) || pick.chance(0.5)) out[name] = fitting(inner as JsonObject, pick);
  return out;
}

const NEARLY: readonly Json[] = [
  null,
  -1,
  0,
  8,
  100,
  2 ** 31,
  1.5,
  '',
  'zzzzzzzzzzzz',
  'B',
  [],
  {},
  true,
  'x',
  ['a', 'a'],
  { k: 1 },
  9_007_199_254_740_992,
];

/** An unusual value; for a string with a format, no list and no object (mistypedFormats). */
function nearly(schema: JsonObject, pick: Picker): Json {
  const value = clone(pick.one(NEARLY));
  const mistyped = typeof value === 'object' && value !== null && schema['format'] !== undefined;
  return mistyped ? '' : value;
}

/** Changes one place of a value, so that it matches the schema or almost does. */
export function nudge(holder: JsonObject, name: string, schema: JsonObject, pick: Picker): void {
  const value = holder[name];
  const roll = pick.int(10);
  if (roll < 6 && isObject(value) && isObject(schema['properties'])) {
    const inner = schema['properties'];
    const keys = Object.keys(inner);
    const key = keys.length === 0 || pick.chance(0.1) ? 'unknownInside' : pick.one(keys);
    nudge(value, key, (inner[key] ?? {}) as JsonObject, pick);
    return;
  }
  if (roll < 6 && Array.isArray(value) && value.length > 0 && isObject(schema['items'])) {
    const box = { item: pick.one(value) };
    nudge(box, 'item', schema['items'], pick);
    holder[name] = [...value, box.item];
    return;
  }
  if (roll === 6) delete holder[name];
  else holder[name] = roll < 8 ? nearly(schema, pick) : fitting(schema, pick);
}
