import { clone, type Json, type JsonObject } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import { builtins } from '../builtinFixture.ts';
import { DecodeError, decodeTyped } from '../typed.ts';
import { compileStructural, type MetadataRules } from './structural.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const metadata: MetadataRules = { decode: (json) => decodeTyped(builtins, META, json), validate: () => [] };
const compile = (spec: JsonObject) =>
  compileStructural(
    {
      type: 'object',
      properties: { spec, status: { type: 'object', properties: { n: { type: 'integer', maximum: 5 } } } },
    },
    { metadata },
  );

const wrap = (spec: Json): JsonObject => ({
  apiVersion: 'g/v1',
  kind: 'Widget',
  metadata: { name: 'w' },
  spec,
});
const texts = (schema: JsonObject, value: Json, old?: Json): string[] =>
  compile(schema)
    .validate(wrap(value), old === undefined ? undefined : wrap(old))
    .map((e) => `${e.reason.replace('FieldValue', '')} ${e.field}: ${e.message}`);
const props = (properties: JsonObject): JsonObject => ({ type: 'object', properties });

describe('validation with the messages of kube-apiserver', () => {
  const cases: [string, JsonObject, Json, string[]][] = [
    [
      'type',
      { type: 'integer' },
      'x',
      ['TypeInvalid spec: Invalid value: "string": spec in body must be of type integer: "string"'],
    ],
    [
      'a fraction',
      props({ n: { type: 'integer' } }),
      { n: 1.5 },
      [
        'TypeInvalid spec.n: Invalid value: "number": spec.n in body must be of type integer: "number"',
        'Invalid <nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.n',
      ],
    ],
    [
      'int32',
      { type: 'integer', format: 'int32' },
      3_000_000_000,
      ['Invalid <nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec'],
    ],
    [
      'a large integer',
      { type: 'integer', format: 'int64', maximum: 5 },
      9223372036854775807n,
      ['Invalid spec: Invalid value: 9223372036854775807: spec in body should be less than or equal to 5'],
    ],
    [
      'null',
      { type: 'string' },
      null,
      ['TypeInvalid spec: Invalid value: "null": spec in body must be of type string: "null"'],
    ],
    ['nullable', { type: 'string', nullable: true }, null, []],
    [
      'enum',
      { type: 'string', enum: ['red', 'green'] },
      'blue',
      ['NotSupported spec: Unsupported value: "blue": supported values: "red", "green"'],
    ],
    [
      'enum of values that are not strings',
      { type: 'integer', enum: [1, 2] },
      3,
      ['NotSupported spec: Unsupported value: 3: supported values: "1", "2"'],
    ],
    [
      'pattern',
      { type: 'string', pattern: '^[a-z]+$' },
      'A1',
      ['Invalid spec: Invalid value: "A1": spec in body should match \'^[a-z]+$\''],
    ],
    [
      'minimum',
      { type: 'integer', minimum: 1 },
      0,
      ['Invalid spec: Invalid value: 0: spec in body should be greater than or equal to 1'],
    ],
    [
      'exclusive minimum',
      { type: 'number', minimum: 0, exclusiveMinimum: true },
      0,
      ['Invalid spec: Invalid value: 0: spec in body should be greater than 0'],
    ],
    [
      'maximum of a float',
      { type: 'number', maximum: 1_000_000 },
      1_000_000.5,
      ['Invalid spec: Invalid value: 1.0000005e+06: spec in body should be less than or equal to 1e+06'],
    ],
    [
      'multipleOf',
      { type: 'integer', multipleOf: 3 },
      4,
      ['Invalid spec: Invalid value: 4: spec in body should be a multiple of 3'],
    ],
    [
      'minLength',
      { type: 'string', minLength: 2 },
      'a',
      ['Invalid spec: Invalid value: "a": spec in body should be at least 2 chars long'],
    ],
    [
      'maxLength',
      { type: 'string', maxLength: 1 },
      'ab',
      ['TooLong spec: Too long: may not be more than 1 byte'],
    ],
    ['lengths count characters', { type: 'string', maxLength: 2, minLength: 2 }, '😀é', []],
    [
      'minItems',
      { type: 'array', items: { type: 'string' }, minItems: 1 },
      [],
      ['Invalid spec: Invalid value: 0: spec in body should have at least 1 items'],
    ],
    [
      'maxItems',
      { type: 'array', items: { type: 'string' }, maxItems: 1 },
      ['a', 'b'],
      ['TooMany spec: Too many: 2: must have at most 1 item'],
    ],
    [
      'minProperties',
      { type: 'object', additionalProperties: { type: 'string' }, minProperties: 1 },
      {},
      ['Invalid spec: Invalid value: 0: spec in body should have at least 1 properties'],
    ],
    [
      'maxProperties',
      { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 1 },
      { a: '1', b: '2' },
      ['TooMany spec: Too many: 2: must have at most 1 item'],
    ],
    [
      'required',
      { ...props({ a: { type: 'string' } }), required: ['a'] },
      {},
      ['Required spec.a: Required value'],
    ],
    [
      'additional properties',
      { type: 'object', additionalProperties: { type: 'integer' } },
      { a: 'x' },
      ['TypeInvalid spec.a: Invalid value: "string": spec.a in body must be of type integer: "string"'],
    ],
    [
      'format',
      { type: 'string', format: 'date-time' },
      'yesterday',
      ['TypeInvalid spec: Invalid value: "yesterday": spec in body must be of type date-time: "yesterday"'],
    ],
    ['additional properties of any type', { type: 'object', additionalProperties: true }, { a: 'x' }, []],
    [
      'no additional properties',
      { type: 'object', additionalProperties: false },
      { a: 'x' },
      ['Invalid spec: Invalid value: "a": spec.a in body is a forbidden property'],
    ],
    ['a fraction that is a multiple', { type: 'number', multipleOf: 0.1 }, 0.30000000000000004, []],
    [
      'a fraction that is not a multiple',
      { type: 'number', multipleOf: 0.5 },
      0.75,
      ['Invalid spec: Invalid value: 0.75: spec in body should be a multiple of 0.5'],
    ],
    ['an unknown format', { type: 'string', format: 'colour' }, 'x', []],
    [
      'int or string',
      { 'x-kubernetes-int-or-string': true },
      true,
      ['TypeInvalid spec: Invalid value: "boolean": spec in body must be of type integer,string: "boolean"'],
    ],
    [
      'anyOf',
      { type: 'integer', anyOf: [{ maximum: 1 }, { minimum: 5 }] },
      3,
      [
        'Invalid <nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)',
        'Invalid spec: Invalid value: 3: spec in body should be less than or equal to 1',
      ],
    ],
    [
      'oneOf without a match',
      {
        ...props({ a: { type: 'string' }, b: { type: 'string' } }),
        oneOf: [{ required: ['a'] }, { required: ['b'] }],
      },
      {},
      [
        'Invalid <nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found none valid',
        'Required spec.a: Required value',
      ],
    ],
    [
      'oneOf with two matches',
      {
        ...props({ a: { type: 'string' }, b: { type: 'string' } }),
        oneOf: [{ required: ['a'] }, { required: ['b'] }],
      },
      { a: '', b: '' },
      [
        'Invalid <nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives',
      ],
    ],
    [
      'allOf',
      { type: 'integer', allOf: [{ minimum: 5 }, { maximum: 9 }] },
      3,
      [
        'Invalid spec: Invalid value: 3: spec in body should be greater than or equal to 5',
        'Invalid <nil>: Invalid value: "": "spec" must validate all the schemas (allOf)',
      ],
    ],
    [
      'not',
      { type: 'integer', not: { minimum: 10 } },
      11,
      ['Invalid <nil>: Invalid value: "": "spec" must not validate the schema (not)'],
    ],
    [
      'the same error is reported once',
      { type: 'integer', minimum: 5, allOf: [{ minimum: 5 }] },
      3,
      [
        'Invalid spec: Invalid value: 3: spec in body should be greater than or equal to 5',
        'Invalid <nil>: Invalid value: "": "spec" must validate all the schemas (allOf). None validated',
      ],
    ],
    [
      'set',
      { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      ['a', 'b', 'a', 'a'],
      ['Duplicate spec[2]: Duplicate value: "a"'],
    ],
    [
      'map',
      {
        type: 'array',
        items: { ...props({ name: { type: 'string' }, v: { type: 'integer' } }), required: ['name'] },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      },
      [
        { name: 'a', v: 1 },
        { v: 2, name: 'a' },
      ],
      ['Duplicate spec[1]: Duplicate value: {"name":"a"}'],
    ],
    [
      'prototype names',
      { type: 'object', additionalProperties: { type: 'integer' } },
      JSON.parse('{"__proto__":"x","constructor":1}'),
      [
        'TypeInvalid spec.__proto__: Invalid value: "string": spec.__proto__ in body must be of type integer: "string"',
      ],
    ],
    [
      'a property with the name of an Object member',
      { ...props({ toString: { type: 'string' } } as JsonObject), required: ['toString'] },
      {},
      ['Required spec.toString: Required value'],
    ],
  ];
  test.each(cases)('%s', (_, schema, value, errors) => {
    expect(texts(schema, value)).toEqual(errors);
  });
});

test.each<[JsonObject, Json]>([
  [{ type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 1 }, ['a']],
  [
    { type: 'object', additionalProperties: { type: 'string' }, minProperties: 1, maxProperties: 1 },
    { a: '' },
  ],
  [{ type: 'string', minLength: 2, maxLength: 2 }, 'ab'],
  [{ type: 'integer', minimum: 2, maximum: 2, multipleOf: 2 }, 2],
  [{ type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true }, 0.5],
  [{ type: 'integer', format: 'int32' }, 2_147_483_647],
  [{ type: 'integer', format: 'int32' }, -2_147_483_648],
  [{ type: 'integer' }, 9223372036854775807n],
  [{ type: 'number', format: 'float' }, 3.4e38],
])('accepts a value that equals the bound: row %#', (schema, value) => {
  expect(texts(schema, value)).toEqual([]);
});

describe('ratcheting', () => {
  const schema = props({
    a: { type: 'string', maxLength: 2 },
    n: { type: 'integer' },
    list: { type: 'array', items: { type: 'string', maxLength: 1 } },
    map: {
      type: 'array',
      items: props({ k: { type: 'string' }, v: { type: 'string', maxLength: 1 } }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    },
  });
  test.each<[string, Json, Json, string[]]>([
    ['an unchanged value may stay invalid', { a: 'long', n: 1 }, { a: 'long', n: 2 }, []],
    ['a changed value must be valid', { a: 'long' }, { a: 'longer' }, ['spec.a']],
    ['a new value must be valid', {}, { a: 'long' }, ['spec.a']],
    ['an unchanged list may stay invalid', { list: ['ab'] }, { list: ['ab'], n: 1 }, []],
    ['elements of a changed list must be valid', { list: ['ab'] }, { list: ['ab', 'c'] }, ['spec.list[0]']],
    [
      'unchanged elements of a map list may stay invalid',
      { map: [{ k: 'x', v: 'long' }] },
      { map: [{ k: 'y' }, { k: 'x', v: 'long' }] },
      [],
    ],
  ])('%s', (_, old, value, fields) => {
    expect(
      compile(schema)
        .validate(wrap(value), wrap(old))
        .map((e) => e.field),
    ).toEqual(fields);
  });

  test('duplicates in a set may stay while the old object has some', () => {
    const set = { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' };
    expect(texts(set, ['a', 'a', 'b'], ['a', 'a'])).toEqual([]);
    expect(texts(set, ['a', 'a'], ['a'])).toHaveLength(1);
  });

  test('validates only the status', () => {
    const structure = compile({ type: 'object' });
    const object = { ...wrap({ bogus: 1 }), status: { n: 9 } };
    expect(structure.validateStatus(object, wrap({}))).toEqual([
      {
        reason: 'FieldValueInvalid',
        field: 'status.n',
        message: 'Invalid value: 9: n in body should be less than or equal to 5',
      },
    ]);
    expect(structure.validateStatus(object, clone(object))).toEqual([]);
    expect(structure.validateStatus({ ...wrap({}), status: 'x' }, wrap({})).map((e) => e.field)).toEqual([
      'status',
    ]);
  });
});

describe('pruning', () => {
  const pruned = (schema: JsonObject, value: Json): [Json | undefined, string[]] => {
    const object = wrap(clone(value));
    const unknown = compile(schema).prune(object);
    return [object.spec, unknown];
  };
  test.each<[string, JsonObject, Json, Json, string[]]>([
    [
      'removes unknown fields and returns them sorted',
      props({ a: { type: 'string' } }),
      { z: 1, b: { c: 2 }, a: 'x' },
      { a: 'x' },
      ['spec.b', 'spec.z'],
    ],
    [
      'removes all fields of an object without properties',
      props({ o: { type: 'object' } }),
      { o: { a: 1 } },
      { o: {} },
      ['spec.o.a'],
    ],
    [
      'removes fields inside lists and reports the index',
      { type: 'array', items: props({}) },
      [{}, { x: 1 }],
      [{}, {}],
      ['spec[1].x'],
    ],
    [
      'keeps fields with x-kubernetes-preserve-unknown-fields',
      { ...props({ a: props({}) }), 'x-kubernetes-preserve-unknown-fields': true },
      { o: { p: 1 }, a: { q: 1 } },
      { o: { p: 1 }, a: {} },
      ['spec.a.q'],
    ],
    [
      'removes all fields inside additional properties of any type',
      { type: 'object', additionalProperties: true },
      { a: { b: 1 } },
      { a: {} },
      ['spec.a.b'],
    ],
    [
      'removes null where it is not allowed',
      props({
        a: { type: 'string' },
        b: { type: 'string', nullable: true },
        c: { type: 'string', default: 'x' },
      }),
      { a: null, b: null, c: null },
      { b: null, c: null },
      [],
    ],
  ])('%s', (_, schema, value, expected, unknown) => {
    expect(pruned(schema, value)).toEqual([expected, unknown]);
  });
  test('does not prune apiVersion, kind and metadata of the root', () => {
    const object: JsonObject = { ...wrap({}), extra: true };
    expect(compile({ type: 'object' }).prune(object)).toEqual(['extra']);
    expect(object).toEqual(wrap({}));
  });
});

describe('defaults', () => {
  const defaulted = (schema: JsonObject, value: Json): Json | undefined => {
    const structure = compile(schema);
    const object = wrap(clone(value));
    structure.prune(object);
    structure.applyDefaults(object);
    return object.spec;
  };
  const schema = props({
    a: { type: 'string', default: 'x' },
    o: props({ b: { type: 'integer', default: 3 } }),
    p: { ...props({ b: { type: 'integer', default: 4 } }), default: {} },
    l: { type: 'array', items: props({ c: { type: 'boolean', default: true } }) },
    m: { type: 'object', additionalProperties: props({ d: { type: 'string', default: 'y' } }) },
    n: { type: 'string', nullable: true, default: 'z' },
  });
  test.each<[string, Json, Json]>([
    [
      'sets defaults in existing objects',
      { o: {}, l: [{}, { c: false }], m: { k: {} } },
      { a: 'x', o: { b: 3 }, p: { b: 4 }, l: [{ c: true }, { c: false }], m: { k: { d: 'y' } }, n: 'z' },
    ],
    ['does not set defaults in missing objects', {}, { a: 'x', p: { b: 4 }, n: 'z' }],
    [
      'treats null as missing where it is not allowed',
      { a: null, n: null },
      { a: 'x', p: { b: 4 }, n: null },
    ],
  ])('%s', (_, value, expected) => {
    expect(defaulted(schema, value)).toEqual(expected);
  });
  test('replaces null elements of lists and maps by the default', () => {
    const items = { type: 'integer', default: 7 };
    const lists = props({ l: { type: 'array', items }, m: { type: 'object', additionalProperties: items } });
    expect(defaulted(lists, { l: [null, 1], m: { a: null, b: 2 } })).toEqual({
      l: [7, 1],
      m: { a: 7, b: 2 },
    });
  });
  test('gives each object its own copy of a default', () => {
    const structure = compile(schema);
    const [first, second] = [wrap({}), wrap({})];
    structure.applyDefaults(first);
    (first.spec as { p: JsonObject }).p.b = 99;
    structure.applyDefaults(second);
    expect(second.spec).toMatchObject({ p: { b: 4 } });
  });
});

describe('embedded resources', () => {
  const schema = props({
    tpl: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    },
  });
  test('decodes embedded metadata as ObjectMeta', () => {
    const object = wrap({
      tpl: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', oops: 1 }, data: { k: 'v' } },
    });
    expect(compile(schema).prune(object)).toEqual(['spec.tpl.metadata.oops']);
    expect(object.spec).toEqual({
      tpl: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { k: 'v' } },
    });
  });
  test('decodes metadata inside maps and lists', () => {
    const inMap = {
      type: 'object',
      additionalProperties: { type: 'array', items: (schema.properties as JsonObject).tpl! },
    };
    const object = wrap({ a: [{ apiVersion: 'v1', kind: 'X', metadata: { oops: 1 } }] });
    expect(compile(inMap).prune(object)).toEqual(['spec[a][0].metadata.oops']);
  });
  test.each<[Json, string]>([
    [{ kind: 7 }, 'spec.tpl.kind: Invalid value: 7: must be a string'],
    [
      { metadata: { labels: { a: 1 } } },
      'spec.tpl.metadata: Invalid value: {"labels":{"a":1}}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
    ],
  ])('%j cannot be decoded', (tpl, message) => {
    expect(() => compile(schema).prune(wrap({ tpl }))).toThrow(new DecodeError(message));
  });
  test.each<[Json, string[]]>([
    [{ data: {} }, ['spec.tpl.apiVersion: Required value', 'spec.tpl.kind: Required value']],
    [
      { apiVersion: 'a/b/c', kind: '' },
      [
        'spec.tpl.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
        'spec.tpl.kind: Invalid value: "": must not be empty',
      ],
    ],
  ])('%j is refused', (tpl, errors) => {
    const found = compile(schema).validate(wrap({ tpl }));
    expect(found.map((e) => `${e.field}: ${e.message}`)).toEqual(errors);
  });
});

test('without a schema every value is valid and every field is unknown', () => {
  const structure = compileStructural(undefined, { metadata });
  const object = wrap({ a: 1 });
  expect(structure.validate(object)).toEqual([]);
  expect(structure.prune(object)).toEqual(['spec']);
  const preserving = compileStructural(undefined, { metadata, preserveUnknownFields: true });
  expect(preserving.prune(wrap({ a: 1 }))).toEqual([]);
});
