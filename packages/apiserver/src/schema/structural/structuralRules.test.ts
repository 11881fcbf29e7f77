import type { JsonObject } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import { builtins } from '../builtinFixture.ts';
import { decodeTyped } from '../typed.ts';
import { hasUnprunedDefaults, isStructural, type MetadataRules, validateStructural } from './structural.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const metadata: MetadataRules = { decode: (json) => decodeTyped(builtins, META, json), validate: () => [] };
const validated = (schema: JsonObject) => validateStructural(schema, 'S', { prunedDefaults: true, metadata });
const errorsOf = (schema: JsonObject): string[] =>
  validated(schema).errors.map((e) => `${e.field}: ${e.message}`);
const root = (a: JsonObject): JsonObject => ({ type: 'object', properties: { a } });
const A = 'S.properties[a]';

describe('structural schema rules', () => {
  test.each<[string, JsonObject, string[]]>([
    [
      'the root is an object',
      { type: 'string' },
      ['S.type: Invalid value: "string": must be object at the root'],
    ],
    ['the root has a type', {}, ['S.type: Required value: must not be empty at the root']],
    [
      'fields have types',
      root({}),
      [`${A}.type: Required value: must not be empty for specified object fields`],
    ],
    [
      'items have types',
      root({ type: 'array', items: {} }),
      [`${A}.items.type: Required value: must not be empty for specified array items`],
    ],
    ['arrays have items', root({ type: 'array' }), [`${A}.items: Required value: must be specified`]],
    [
      'the root has no additional properties',
      { type: 'object', additionalProperties: { type: 'string' } },
      ['S.additionalProperties: Forbidden: must not be used at the root'],
    ],
    ['int-or-string needs no type', root({ 'x-kubernetes-int-or-string': true }), []],
    [
      'the two int-or-string patterns may have types in junctors',
      root({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }),
      [],
    ],
    [
      'the int-or-string patterns may be in allOf',
      root({
        'x-kubernetes-int-or-string': true,
        allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: 'x' }],
      }),
      [],
    ],
    [
      'other junctors may not have types',
      root({ type: 'object', anyOf: [{ type: 'object' }] }),
      [`${A}.anyOf[0].type: Forbidden: must be empty to be structural`],
    ],
    ['preserving needs no type', root({ 'x-kubernetes-preserve-unknown-fields': true }), []],
    [
      'int-or-string excludes preserve-unknown-fields',
      root({ 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true }),
      [
        `${A}.x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true`,
      ],
    ],
    [
      'junctors may only contain constraints',
      root({ type: 'string', not: { title: 't', default: 'x', nullable: true } }),
      [
        `${A}.not.default: Forbidden: must be undefined to be structural`,
        `${A}.not.nullable: Forbidden: must be false to be structural`,
        `${A}.not.title: Forbidden: must be empty to be structural`,
      ],
    ],
    [
      'junctors may only refer to declared fields',
      { type: 'object', oneOf: [{ properties: { b: {} } }] },
      ['S.properties[b]: Required value: because it is defined in S.oneOf[0].properties[b]'],
    ],
    [
      'junctors may only refer to declared items',
      { type: 'object', anyOf: [{ items: {} }] },
      ['S.items: Required value: because it is defined in S.anyOf[0].items'],
    ],
    [
      'junctors below the root are not checked, as upstream',
      root({ type: 'object', oneOf: [{ properties: { b: {} } }] }),
      [],
    ],
    [
      'junctors may not refer to metadata',
      {
        type: 'object',
        properties: { metadata: { type: 'object' } },
        anyOf: [{ properties: { metadata: {} } }],
      },
      ['S.anyOf[0].properties[metadata]: Forbidden: must not be specified in a nested context'],
    ],
    [
      'metadata may constrain name and generateName',
      {
        type: 'object',
        properties: { metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 9 } } } },
      },
      [],
    ],
    [
      'metadata may not constrain other fields',
      {
        type: 'object',
        properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
      },
      [
        'S.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
      ],
    ],
    [
      'kind is a string',
      { type: 'object', properties: { kind: { type: 'integer' } } },
      ['S.properties[kind].type: Invalid value: "integer": must be string'],
    ],
    [
      'embedded resources are objects',
      root({
        type: 'string',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
      }),
      [`${A}.type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true`],
    ],
    [
      'embedded resources have fields',
      root({ type: 'object', 'x-kubernetes-embedded-resource': true }),
      [
        `${A}.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields`,
      ],
    ],
    [
      'patterns compile',
      root({ type: 'string', pattern: '(' }),
      [
        `${A}.pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): \`(\``,
      ],
    ],
    [
      'patterns have no look-ahead',
      root({ type: 'string', pattern: '(?=x)' }),
      [
        `${A}.pattern: Invalid value: "(?=x)": must be a valid regular expression, but isn't: error parsing regexp: invalid or unsupported Perl syntax: \`(?=\``,
      ],
    ],
  ])('%s', (_, schema, errors) => {
    expect(errorsOf(schema)).toEqual(errors);
    expect(isStructural(schema)).toBe(errors.length === 0);
  });

  test.each<[JsonObject, string]>([
    [{ $ref: '#/x' }, "OpenAPIV3Schema '$ref' is not supported"],
    [
      { type: 'array', items: [{ type: 'string' }] },
      "OpenAPIV3Schema 'items' must be a schema, but is an array",
    ],
    [
      { 'x-kubernetes-preserve-unknown-fields': false },
      "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined",
    ],
    [
      { type: 'string', allOf: [{ definitions: { a: {} } }] },
      "OpenAPIV3Schema 'definitions' is not supported",
    ],
  ])('%j has no structural form', (schema, message) => {
    const { errors, unreadable, checked } = validated(root(schema));
    expect([errors, checked]).toEqual([[], false]);
    expect(unreadable).toEqual([
      { reason: 'FieldValueInvalid', field: 'S', message: `Invalid value: "": ${message}` },
    ]);
  });
});

describe('defaults of a schema', () => {
  test.each<[string, JsonObject, string[]]>([
    [
      'must match their type',
      root({ type: 'integer', default: 'x' }),
      [`${A}.default: Invalid value: "string":  in body must be of type integer: "string"`],
    ],
    [
      'must be valid at every depth',
      root({ type: 'object', properties: { b: { type: 'integer' } }, default: { b: 'x' } }),
      [`${A}.default.b: Invalid value: "string": b in body must be of type integer: "string"`],
    ],
    [
      'must not have unknown fields',
      root({ type: 'object', properties: {}, default: { b: 1 } }),
      [`${A}.default: Invalid value: {"b":1}: must not have unknown fields`],
    ],
    [
      'are checked inside items',
      root({ type: 'array', items: { type: 'string', maxLength: 1, default: 'ab' } }),
      [`${A}.items.default: Too long: may not be more than 1 byte`],
    ],
    [
      'must be valid embedded resources',
      root({
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
        default: { kind: 'X' },
      }),
      [`${A}.default.apiVersion: Required value`],
    ],
    [
      'must result in valid metadata',
      root({
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        properties: { kind: { type: 'string', default: 'Bad Kind' } },
      }),
      [
        `${A}.properties[kind].default: Invalid value: "Bad Kind": must result in valid metadata: kind: Invalid value: "Bad Kind": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`,
      ],
    ],
    [
      'may be any value where the schema allows any',
      root({ 'x-kubernetes-preserve-unknown-fields': true, default: { a: [1, null] } }),
      [],
    ],
  ])('%s', (_, schema, errors) => {
    expect(errorsOf(schema)).toEqual(errors);
  });

  test('unknown fields in defaults can be allowed', () => {
    const schema = root({ type: 'object', properties: {}, default: { b: 1 } });
    expect(validateStructural(schema, 'S', { prunedDefaults: false, metadata }).checked).toBe(true);
    expect(hasUnprunedDefaults(schema)).toBe(true);
    expect(hasUnprunedDefaults(root({ type: 'object', properties: {}, default: {} }))).toBe(false);
  });

  test('rules run on otherwise valid defaults', () => {
    const seen: string[] = [];
    const rules = (_: JsonObject, value: unknown, path: string) => {
      seen.push(`${path}=${JSON.stringify(value)}`);
      return [];
    };
    validateStructural(root({ type: 'integer', default: 3 }), 'S', { prunedDefaults: true, metadata, rules });
    expect(seen).toEqual([`${A}.default=3`]);
  });
});
