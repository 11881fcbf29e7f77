import { describe, expect, test } from 'vitest';
import type { JsonObject } from '#api/json';
import { asObject } from '#api/object';
import { definitionStrategy } from '../definitionStrategy.ts';
import { definition, GROUP, object, version } from '../testkit.ts';
import { validateDefinition, validateDefinitionUpdate } from './definition.ts';

/** Refusals with the usual places shortened: `S` is the shared schema, `A` the field spec.a in it. */
const short = (errors: readonly { field: string; message: string }[]) =>
  errors.map((e) =>
    `${e.field}: ${e.message}`
      .replace('spec.validation.openAPIV3Schema.properties[spec].properties[a]', 'A')
      .replace('spec.validation.openAPIV3Schema', 'S'),
  );

function prepared(raw: object) {
  const made = asObject(JSON.parse(JSON.stringify(raw)) as JsonObject);
  definitionStrategy.applyDefaults!(made);
  return made;
}

const refusals = (raw: object) => short(validateDefinition(prepared(raw)));
const withA = (schema: JsonObject) => definition({ spec: object({ a: schema }) });
const withRoot = (schema: JsonObject, v1: JsonObject = {}) =>
  definition({ versions: [version('v1', schema, { storage: true, ...v1 })] });

describe('schemas', () => {
  const items = object({ k: { type: 'string' } }, { required: ['k'] });
  const list = (more: JsonObject, of: JsonObject = items) => withA({ type: 'array', items: of, ...more });
  test.each<[string, object, string[]]>([
    ['a plain schema is fine', definition(), []],
    [
      'a type nobody knows',
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
      '$schema is refused for the whole',
      withA({ type: 'string', $schema: 'x' }),
      [`S: Invalid value: "": OpenAPIV3Schema 'schema' is not supported`],
    ],
    [
      'preserve-unknown-fields false',
      withA({ type: 'object', 'x-kubernetes-preserve-unknown-fields': false }),
      ['A.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined'],
    ],
    [
      'properties beside additionalProperties',
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
      'the one pattern in which it may be',
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
      'keys that are no properties, or come twice',
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
      'a list type on no list',
      withA({ type: 'object', 'x-kubernetes-list-type': 'set' }),
      ['A.type: Invalid value: "object": must be array if x-kubernetes-list-type is specified'],
    ],
    [
      'a map type nobody knows',
      withA({ type: 'object', 'x-kubernetes-map-type': 'x' }),
      ['A.x-kubernetes-map-type: Unsupported value: "x": supported values: "atomic", "granular"'],
    ],
    [
      'a default of another type',
      withA({ type: 'integer', default: 'x' }),
      ['A.default: Invalid value: "string":  in body must be of type integer: "string"'],
    ],
    [
      'a default that does not fit inside',
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
      'a pattern that is none',
      withA({ type: 'string', pattern: '(' }),
      [
        'A.pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
      ],
    ],
  ])('%s', (_, made, errors) => {
    expect(refusals(made)).toEqual(errors);
  });

  test('with a status subresource, nothing at the root may speak about the status', () => {
    const [error] = refusals(
      withRoot(object({ spec: { type: 'object' } }, { maxProperties: 3 }), { subresources: { status: {} } }),
    );
    expect(error).toMatch(
      /^S: Invalid value: \{"ID":"",.*"MaxProperties":3,.*\}: only \[Description Type .* XValidations\] fields are allowed at the root/,
    );
  });

  test('schemas that differ between versions are named by version', () => {
    const versions = [version('v1', object({ x: {} }), { storage: true }), version('v2', object({ y: {} }))];
    expect(refusals(definition({ versions }))).toEqual([
      'spec.versions[0].schema.openAPIV3Schema.properties[x].type: Required value: must not be empty for specified object fields',
      'spec.versions[1].schema.openAPIV3Schema.properties[y].type: Required value: must not be empty for specified object fields',
    ]);
  });
});

describe('everything around the schema', () => {
  const spec = (more: JsonObject) => definition({ more });
  test.each<[string, object, string[]]>([
    [
      'a name of its own',
      { ...definition(), metadata: { name: 'foo' } },
      ['metadata.name: Invalid value: "foo": must be spec.names.plural+"."+spec.group'],
    ],
    ['no scope', spec({ scope: '' }), ['spec.scope: Required value']],
    [
      'another scope',
      spec({ scope: 'Global' }),
      ['spec.scope: Unsupported value: "Global": supported values: "Cluster", "Namespaced"'],
    ],
    [
      'kind and list kind alike',
      spec({ names: { plural: 'widgets', kind: 'Widget', listKind: 'Widget' } }),
      ['spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same'],
    ],
    [
      'no kind',
      spec({ names: { plural: 'widgets' } }),
      [
        'spec.names.singular: Required value',
        'spec.names.kind: Required value',
        'spec.names.listKind: Required value',
      ],
    ],
    [
      'no versions',
      spec({ versions: [] }),
      [
        'spec.versions: Invalid value: []: must have exactly one version marked as storage version',
        'status.storedVersions: Invalid value: null: must have at least one stored version',
      ],
    ],
    [
      'no schema',
      definition({ v1: { schema: {} } }),
      ['spec.versions[0].schema.openAPIV3Schema: Required value'],
    ],
    [
      'preserveUnknownFields',
      spec({ preserveUnknownFields: true }),
      [
        'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ],
    ],
    [
      'a warning without deprecation',
      definition({ v1: { deprecationWarning: 'x' } }),
      ['spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions'],
    ],
    [
      'a warning that would break a header',
      definition({ v1: { deprecated: true, deprecationWarning: 'ab\nc' } }),
      [
        'spec.versions[0].deprecationWarning: Invalid value: "ab\\nc": must only contain printable UTF-8 characters; non-printable character found at index 2',
      ],
    ],
    [
      'a column without anything',
      definition({ v1: { additionalPrinterColumns: [{}] } }),
      [
        'spec.additionalPrinterColumns[0].name: Required value',
        'spec.additionalPrinterColumns[0].type: Required value: must be one of boolean,date,integer,number,string',
        'spec.additionalPrinterColumns[0].JSONPath: Required value',
      ],
    ],
    [
      'a scale outside spec and status',
      definition({ v1: { subresources: { scale: { specReplicasPath: '.a', statusReplicasPath: 'b' } } } }),
      [
        'spec.subresources.scale.specReplicasPath: Invalid value: ".a": should be a json path under .spec',
        'spec.subresources.scale.statusReplicasPath: Invalid value: "b": must be a simple json path starting with .',
      ],
    ],
    [
      'a selectable object',
      definition({ v1: { selectableFields: [{ jsonPath: '.spec' }] } }),
      [
        'spec.selectableFields[0].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      ],
    ],
    [
      'a selectable field twice',
      definition({ v1: { selectableFields: [{ jsonPath: '.spec.size' }, { jsonPath: '.spec.size' }] } }),
      ['spec.selectableFields[1].jsonPath: Duplicate value: ".spec.size"'],
    ],
    [
      'an unknown conversion',
      spec({ conversion: { strategy: 'Foo' } }),
      ['spec.conversion.strategy: Unsupported value: "Foo": supported values: "None", "Webhook"'],
    ],
    [
      'a webhook without address',
      spec({
        conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v9'], clientConfig: {} } },
      }),
      [
        'spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required',
        'spec.conversion.conversionReviewVersions: Invalid value: ["v9"]: must include at least one of v1, v1beta1',
      ],
    ],
    [
      'a webhook over http',
      spec({
        conversion: {
          strategy: 'Webhook',
          webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'http://u:p@x/?a#b' } },
        },
      }),
      [
        `spec.conversion.webhookClientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
        'spec.conversion.webhookClientConfig.url: Invalid value: "u:p": user information is not permitted in the URL',
        'spec.conversion.webhookClientConfig.url: Invalid value: "b": fragments are not permitted in the URL',
        'spec.conversion.webhookClientConfig.url: Invalid value: "a": query parameters are not permitted in the URL',
      ],
    ],
    [
      'a community group',
      { ...spec({ group: 'toys.k8s.io' }), metadata: { name: 'widgets.toys.k8s.io' } },
      [
        'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
      ],
    ],
  ])('%s', (_, made, errors) => {
    expect(refusals(made)).toEqual(errors);
  });

  test('two storage versions are shown as Go structs', () => {
    const versions = [version('v1', object(), { storage: true }), version('v2', object(), { storage: true })];
    expect(refusals(definition({ versions }))).toEqual([
      'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v2","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version',
      'status.storedVersions: Invalid value: ["v1"]: must have the storage version v2',
    ]);
  });
});

describe('updates', () => {
  const established = (raw: object) => {
    const made = prepared(raw);
    const status = made['status'] as JsonObject;
    status['conditions'] = [{ type: 'Established', status: 'True' }];
    return made;
  };
  test.each<[string, object, object, string[]]>([
    [
      'group and plural never change',
      definition(),
      definition({ more: { group: 'other.example.com', names: { plural: 'gadgets', kind: 'Widget' } } }),
      [
        'spec.group: Invalid value: "other.example.com": field is immutable',
        'spec.names.plural: Invalid value: "gadgets": field is immutable',
      ],
    ],
    [
      'scope and kind do not change any more',
      definition(),
      definition({ more: { scope: 'Cluster', names: { plural: 'widgets', kind: 'Gadget' } } }),
      [
        'spec.scope: Invalid value: "Cluster": field is immutable',
        'spec.names.kind: Invalid value: "Gadget": field is immutable',
      ],
    ],
    [
      'a version with objects in it stays',
      definition(),
      definition({ versions: [version('v2', object(), { storage: true })] }),
      [
        'status.storedVersions: Invalid value: ["v1"]: must have the storage version v2',
        'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions',
      ],
    ],
    ['a type that was wrong before may stay wrong', withA({ type: 'foo' }), withA({ type: 'bar' }), []],
    [
      'a set that was wrong before may stay wrong',
      withA({ type: 'array', items: object(), 'x-kubernetes-list-type': 'set' }),
      withA({ type: 'array', items: object({}, { description: 'x' }), 'x-kubernetes-list-type': 'set' }),
      [],
    ],
    [
      'a schema that was missing before may stay missing on versions that are not served',
      definition({ v1: { schema: {}, served: false } }),
      definition({ v1: { schema: {}, served: false } }),
      [],
    ],
    ['too many selectable fields may stay', tooMany(), tooMany(), []],
  ])('%s', (_, old, next, errors) => {
    const before = established(old);
    const after = prepared(next);
    after['status'] = before['status'] as never;
    expect(short(validateDefinitionUpdate(after, before))).toEqual(errors);
  });

  function tooMany() {
    const names = [...'abcdefghi'];
    const fields = Object.fromEntries(names.map((n) => [n, { type: 'string' }]));
    return definition({
      spec: object(fields),
      v1: { selectableFields: names.map((n) => ({ jsonPath: `.spec.${n}` })) },
    });
  }
});

describe('hostile definitions', () => {
  test('prototype names are property names like any other', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"foo"},"constructor":{"type":"string"}}}',
    ) as JsonObject;
    expect(refusals(withRoot(schema))).toEqual([
      'S.properties[__proto__].type: Unsupported value: "foo": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ]);
  });

  test('a schema as deep as a body may be is walked', () => {
    let schema: JsonObject = { type: 'string' };
    for (let i = 0; i < 490; i++) schema = object({ p: schema });
    expect(refusals(withA(schema))).toEqual([]);
  });

  test('a default at every level of a deep schema does not make the check explode', () => {
    let schema: JsonObject = object(
      Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`f${i}`, { type: 'string' }])),
    );
    for (let i = 0; i < 200; i++) schema = object({ p: schema }, { default: {} });
    const start = performance.now();
    expect(refusals(withA(schema))).toEqual([]);
    expect(performance.now() - start).toBeLessThan(2000);
  });

  test('a schema as large as a body may be is checked in reasonable time', () => {
    const fields = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, i) => [
        `field${i}`,
        { type: 'string', description: 'x'.repeat(60), maxLength: 10 },
      ]),
    );
    const start = performance.now();
    expect(refusals(withA(object(fields)))).toEqual([]);
    expect(performance.now() - start).toBeLessThan(2000);
  });

  test('names are compared without surprises', () => {
    expect(refusals({ ...definition(), metadata: { name: `widgets.${GROUP}` } })).toEqual([]);
  });
});
