import type { Json, JsonObject } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import { DecodeError } from '../typed.ts';
import { compile, props, wrap } from './structural.testkit.ts';

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
