import type { Json, JsonObject } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import { metadata, props, texts, wrap } from './structural.testkit.ts';
import { compileStructural } from './structural.ts';

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

test('without a schema every value is valid and every field is unknown', () => {
  const structure = compileStructural(undefined, { metadata });
  const object = wrap({ a: 1 });
  expect(structure.validate(object)).toEqual([]);
  expect(structure.prune(object)).toEqual(['spec']);
  const preserving = compileStructural(undefined, { metadata, preserveUnknownFields: true });
  expect(preserving.prune(wrap({ a: 1 }))).toEqual([]);
});
