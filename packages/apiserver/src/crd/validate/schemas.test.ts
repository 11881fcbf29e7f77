import type { JsonObject } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import { crd, object, version } from '../testkit.ts';
import { refusals, withA, withRoot } from './testkit.ts';

describe('schemas', () => {
  const items = object({ k: { type: 'string' } }, { required: ['k'] });
  const list = (more: JsonObject, of: JsonObject = items) => withA({ type: 'array', items: of, ...more });
  test.each<[string, object, string[]]>([
    ['accepts a plain schema', crd(), []],
    [
      'an unknown type',
      withA({ type: 'foo' }),
      [
        'A.type: Unsupported value: "foo": supported values: "array", "boolean", "integer", "number", "object", "string"',
      ],
    ],
    [
      'no type',
      withA({ title: 't' }),
      ['A.type: Required value: must not be empty for specified object fields'],
    ],
    ['a list without items', withA({ type: 'array' }), ['A.items: Required value: must be specified']],
    [
      'items as a list',
      withA({ type: 'array', items: [{ type: 'string' }] }),
      ['A.items: Forbidden: items must be a schema object and not an array'],
    ],
    [
      'another type at the root',
      withRoot({ type: 'string' }),
      ['S.type: Invalid value: "string": must be object at the root'],
    ],
    [
      'a nullable root',
      withRoot(object({}, { nullable: true })),
      ['S.nullable: Forbidden: nullable cannot be true at the root'],
    ],
    [
      'uniqueItems',
      withA({ type: 'array', items: { type: 'string' }, uniqueItems: true }),
      [
        'A.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ],
    ],
    ['$ref', withA({ type: 'string', $ref: '#/x' }), ['A.$ref: Forbidden: $ref is not supported']],
    [
      '$schema',
      withA({ type: 'string', $schema: 'x' }),
      [`S: Invalid value: "": OpenAPIV3Schema 'schema' is not supported`],
    ],
    [
      'preserve-unknown-fields false',
      withA({ type: 'object', 'x-kubernetes-preserve-unknown-fields': false }),
      ['A.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined'],
    ],
    [
      'properties together with additionalProperties',
      withA({
        type: 'object',
        properties: { x: { type: 'string' } },
        additionalProperties: { type: 'string' },
      }),
      ['A.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive'],
    ],
    [
      'additionalProperties at the root',
      withRoot({ type: 'object', additionalProperties: { type: 'string' } }),
      ['S.additionalProperties: Forbidden: must not be used at the root'],
    ],
    [
      'a type in a junctor',
      withA({ type: 'object', anyOf: [{ type: 'object' }] }),
      ['A.anyOf[0].type: Forbidden: must be empty to be structural'],
    ],
    [
      'a type in the int-or-string pattern',
      withA({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }),
      [],
    ],
    [
      'a schema of metadata',
      withRoot(object({ metadata: object({ labels: { type: 'object' } }) })),
      [
        'S.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
      ],
    ],
    [
      'a list map without keys',
      list({ 'x-kubernetes-list-type': 'map' }),
      ['A.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map'],
    ],
    [
      'keys that are not properties, or duplicate',
      list({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['q', 'k', 'k'] }),
      [
        'A.x-kubernetes-list-map-keys: Invalid value: ["q","k","k"]: entries must all be names of item properties',
        'A.x-kubernetes-list-map-keys: Invalid value: ["q","k","k"]: must not contain duplicate entries',
      ],
    ],
    [
      'a list map of scalars',
      list({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }, { type: 'string' }),
      [
        'A.items.type: Invalid value: "string": must be object if parent array\'s x-kubernetes-list-type is map',
      ],
    ],
    [
      'keys that may be missing or null',
      list(
        { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
        object({ k: { type: 'string', nullable: true } }),
      ),
      [
        'A.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
        'A.items.properties[k].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
      ],
    ],
    [
      'keys without a list map',
      list({ 'x-kubernetes-list-map-keys': ['k'] }),
      ['A.x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty'],
    ],
    [
      'a set of granular objects',
      list({ 'x-kubernetes-list-type': 'set' }),
      [
        'A.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set',
      ],
    ],
    [
      'a list type on a field that is not a list',
      withA({ type: 'object', 'x-kubernetes-list-type': 'set' }),
      ['A.type: Invalid value: "object": must be array if x-kubernetes-list-type is specified'],
    ],
    [
      'an unknown map type',
      withA({ type: 'object', 'x-kubernetes-map-type': 'x' }),
      ['A.x-kubernetes-map-type: Unsupported value: "x": supported values: "atomic", "granular"'],
    ],
    [
      'a default of another type',
      withA({ type: 'integer', default: 'x' }),
      ['A.default: Invalid value: "string":  in body must be of type integer: "string"'],
    ],
    [
      'a default with an invalid field',
      withA({ type: 'object', properties: { x: { type: 'integer' } }, default: { x: 'a', y: 1 } }),
      [
        'A.default: Invalid value: {"x":"a","y":1}: must not have unknown fields',
        'A.default.x: Invalid value: "string": x in body must be of type integer: "string"',
      ],
    ],
    [
      'defaults in metadata',
      withRoot(object({ kind: { type: 'string', default: 'x' } })),
      ['S.properties[kind].default: Forbidden: must not be set in top-level kind'],
    ],
    [
      'an embedded resource without properties',
      withA({ type: 'object', 'x-kubernetes-embedded-resource': true }),
      [
        'A.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ],
    ],
    [
      'an invalid pattern',
      withA({ type: 'string', pattern: '(' }),
      [
        'A.pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
      ],
    ],
  ])('%s', (_, made, errors) => {
    expect(refusals(made)).toEqual(errors);
  });

  test('with a status subresource, no keyword at the root may constrain the status', () => {
    const [error] = refusals(
      withRoot(object({ spec: { type: 'object' } }, { maxProperties: 3 }), { subresources: { status: {} } }),
    );
    expect(error).toMatch(
      /^S: Invalid value: \{"ID":"",.*"MaxProperties":3,.*\}: only \[Description Type .* XValidations\] fields are allowed at the root/,
    );
  });

  test('errors of schemas that differ between versions name the version', () => {
    const versions = [version('v1', object({ x: {} }), { storage: true }), version('v2', object({ y: {} }))];
    expect(refusals(crd({ versions }))).toEqual([
      'spec.versions[0].schema.openAPIV3Schema.properties[x].type: Required value: must not be empty for specified object fields',
      'spec.versions[1].schema.openAPIV3Schema.properties[y].type: Required value: must not be empty for specified object fields',
    ]);
  });
});

describe('hostile CRDs', () => {
  test('prototype names are valid property names', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"foo"},"constructor":{"type":"string"}}}',
    ) as JsonObject;
    expect(refusals(withRoot(schema))).toEqual([
      'S.properties[__proto__].type: Unsupported value: "foo": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ]);
  });

  test('validates a schema of the maximum depth', () => {
    let schema: JsonObject = { type: 'string' };
    for (let i = 0; i < 490; i++) schema = object({ p: schema });
    expect(refusals(withA(schema))).toEqual([]);
  });

  test('validates a deep schema with a default at every level in reasonable time', () => {
    let schema: JsonObject = object(
      Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`f${i}`, { type: 'string' }])),
    );
    for (let i = 0; i < 200; i++) schema = object({ p: schema }, { default: {} });
    expect(refusals(withA(schema))).toEqual([]);
  });

  test('validates a schema of the maximum size in reasonable time', () => {
    const fields = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, i) => [
        `field${i}`,
        { type: 'string', description: 'x'.repeat(60), maxLength: 10 },
      ]),
    );
    expect(refusals(withA(object(fields)))).toEqual([]);
  });
});
