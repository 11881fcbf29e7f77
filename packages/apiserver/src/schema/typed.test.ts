import type { Json } from '@lapse/kube/api/json';
import { parseJson } from '@lapse/kube/api/jsonParse';
import { describe, expect, test } from 'vitest';
import { builtins, typeOf } from './builtinFixture.ts';
import type { BuiltinTable } from './builtinTable.ts';
import { convertTyped, DecodeError, decodeTyped, zeroTyped } from './typed.ts';

/** Every kind of field, with a row for each rule of Go's tags. */
const table: BuiltinTable = {
  version: 'test',
  kinds: { 'v1/Thing': 'Thing' },
  types: {
    Thing: {
      go: 'v1.Thing',
      fields: {
        kind: { t: 'string', g: 'string', omit: true },
        text: { t: 'string', g: 'string', n: 1 },
        phase: { t: 'string', g: 'v1.Phase', n: 2, omit: true },
        count: { t: 'int32', g: '*int32', n: 3, ptr: true, omit: true },
        size: { t: 'int64', g: 'int64', n: 4, omit: true },
        flag: { t: 'bool', g: 'bool', n: 5 },
        list: { t: 'string', g: '[]string', n: 6, list: true, omit: true },
        bare: { t: 'string', g: '[]string', n: 7, list: true },
        labels: { t: 'string', g: 'map[string]string', n: 8, map: true, omit: true },
        part: { t: 'Part', g: 'v1.Part', n: 9, omit: true },
        maybe: { t: 'Part', g: '*v1.Part', n: 10, ptr: true, omit: true },
        parts: { t: 'Part', g: '[]v1.Part', n: 11, list: true, omit: true },
        when: { t: 'Time', g: 'v1.Time', n: 12, omit: true },
        since: { t: 'Time', g: 'v1.Time', n: 13, omit: true, omitzero: true },
        port: { t: 'IntOrString', g: 'intstr.IntOrString', n: 14, omit: true },
        blob: { t: 'bytes', g: '[]uint8', n: 15, omit: true },
        ratio: { t: 'float64', g: 'float64', n: 16, omit: true },
        inner: { t: 'string', g: 'string', omit: true },
      },
      embedded: [{ n: 20, t: 'Source' }],
    },
    Part: { go: 'v1.Part', fields: { name: { t: 'string', g: 'string', n: 1 } } },
    Source: { go: 'v1.Source', fields: { inner: { t: 'string', g: 'string', n: 1, omit: true } } },
  },
};
const empty = { text: '', flag: false, bare: null, part: { name: '' }, when: null, port: 0 };
const decode = (text: string) => {
  const { value, notes } = parseJson(text, { notes: true });
  return decodeTyped(table, 'Thing', value, notes);
};

describe('encoding like Go', () => {
  test('encodes the zero value', () => {
    expect(zeroTyped(table, 'Thing')).toEqual(empty);
    expect(decode('{}').value).toEqual(empty);
  });
  test.each<[string, string, Record<string, Json>]>([
    ['treats null as absent', '{"text":null,"count":null,"list":null,"part":null,"port":null}', {}],
    ['omitempty leaves out zero values', '{"phase":"","size":0,"list":[],"labels":{},"blob":""}', {}],
    ['a pointer keeps an explicit zero', '{"count":0,"maybe":{}}', { count: 0, maybe: { name: '' } }],
    ['writes an empty list without omitempty as null', '{"bare":[]}', { bare: null }],
    [
      'null in a map or list is the zero value',
      '{"labels":{"a":null},"parts":[null]}',
      { labels: { a: '' }, parts: [{ name: '' }] },
    ],
    ['times become UTC', '{"when":"2024-01-01T01:00:00+01:00"}', { when: '2024-01-01T00:00:00Z' }],
    ['omitzero leaves out the zero time', '{"since":"0001-01-01T00:00:00Z"}', {}],
    ['large integers are exact', '{"size":9007199254740993}', { size: 9007199254740993n }],
    [
      'prototype names are map keys',
      '{"labels":{"constructor":"a"}}',
      { labels: { constructor: 'a' } as unknown as Json },
    ],
    ['int or string', '{"port":"http"}', { port: 'http' }],
  ])('%s', (_, text, value) => {
    expect(decode(text).value).toEqual({ ...empty, ...value });
  });
  test('__proto__ in a map stays an own key', () => {
    expect(Object.keys(decode('{"labels":{"__proto__":"x"}}').value.labels as object)).toEqual(['__proto__']);
  });
});

describe('strict decoding', () => {
  test('reports unknown and duplicate fields in the order of the text', () => {
    const text =
      '{"oops":1,"parts":[{"name":"a","x":{"y":1}},{"name":"b","name":"c"}],"Text":"","labels":{"k":"1","k":"2"},"text":"a","text":"b"}';
    const { value, unknown, strict } = decode(text);
    expect(strict).toEqual([
      'unknown field "oops"',
      'unknown field "parts[0].x"',
      'duplicate field "parts[1].name"',
      'unknown field "Text"',
      'duplicate field "labels.k"',
      'duplicate field "text"',
    ]);
    expect(unknown).toEqual(['oops', 'parts[0].x', 'Text']);
    expect(value).toMatchObject({ text: 'b', parts: [{ name: 'a' }, { name: 'c' }], labels: { k: '2' } });
  });
  test('ignores duplicates inside an unknown field, and reports __proto__ as unknown', () => {
    expect(decode('{"oops":{"a":1,"a":2},"__proto__":{"text":"x"}}').strict).toEqual([
      'unknown field "oops"',
      'unknown field "__proto__"',
    ]);
  });
  test('reports at most 100 errors', () => {
    const fields = Array.from({ length: 500 }, (_, i) => `"f${i}":1`).join(',');
    expect(decode(`{${fields}}`).strict).toHaveLength(100);
  });
});

describe('errors', () => {
  test.each([
    ['[]', 'json: cannot unmarshal array into Go value of type v1.Thing'],
    ['{"text":1}', 'json: cannot unmarshal number into Go struct field Thing.text of type string'],
    ['{"phase":true}', 'json: cannot unmarshal bool into Go struct field Thing.phase of type v1.Phase'],
    ['{"count":"two"}', 'json: cannot unmarshal string into Go struct field Thing.count of type int32'],
    ['{"count":1.50}', 'json: cannot unmarshal number 1.50 into Go struct field Thing.count of type int32'],
    ['{"count":1.0}', 'json: cannot unmarshal number 1.0 into Go struct field Thing.count of type int32'],
    [
      '{"count":3000000000}',
      'json: cannot unmarshal number 3000000000 into Go struct field Thing.count of type int32',
    ],
    [
      '{"size":9223372036854775808}',
      'json: cannot unmarshal number 9223372036854775808 into Go struct field Thing.size of type int64',
    ],
    [
      '{"ratio":1e999}',
      'json: cannot unmarshal number 1e999 into Go struct field Thing.ratio of type float64',
    ],
    ['{"list":"a"}', 'json: cannot unmarshal string into Go struct field Thing.list of type []string'],
    ['{"list":[{}]}', 'json: cannot unmarshal object into Go struct field Thing.list of type string'],
    [
      '{"labels":[]}',
      'json: cannot unmarshal array into Go struct field Thing.labels of type map[string]string',
    ],
    ['{"labels":{"a":1}}', 'json: cannot unmarshal number into Go struct field Thing.labels of type string'],
    [
      '{"parts":[{"name":{}}]}',
      'json: cannot unmarshal object into Go struct field Part.parts.name of type string',
    ],
    ['{"part":"x"}', 'json: cannot unmarshal string into Go struct field Thing.part of type v1.Part'],
    ['{"inner":1}', 'json: cannot unmarshal number into Go struct field Thing.Source.inner of type string'],
    ['{"when":5}', 'json: cannot unmarshal number into Go struct field Thing.when of type string'],
    ['{"port":1.5}', 'json: cannot unmarshal number 1.5 into Go struct field Thing.port of type int32'],
    ['{"port":{}}', 'json: cannot unmarshal object into Go struct field Thing.port of type int32'],
    ['{"blob":"a*b="}', 'illegal base64 data at input byte 1'],
    ['{"blob":7}', 'json: cannot unmarshal number into Go struct field Thing.blob of type []uint8'],
    // The first problem is reported, except when a later one is fatal.
    [
      '{"text":1,"count":"x"}',
      'json: cannot unmarshal number into Go struct field Thing.text of type string',
    ],
    ['{"text":1,"when":"x"}', 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
  ])('%s', (text, message) => {
    expect(() => decode(text)).toThrow(new DecodeError(message));
  });
});

describe('converting the result of a strategic merge patch', () => {
  test.each<[string, Json, string]>([
    ['a number for a string', { text: 1 }, 'cannot convert int64 to string'],
    ['a number for a named string', { phase: 1 }, 'cannot convert int64 to v1.Phase'],
    ['a fraction for a string', { text: 1.5 }, 'unrecognized type: string'],
    ['a text for a number', { count: 'two' }, 'unrecognized type: int32'],
    ['a fraction for an integer', { count: 1.5 }, 'cannot convert float64 to int32'],
    ['a text for a bool', { flag: 'x' }, 'unrecognized type: bool'],
    ['a text for a list', { list: 'x' }, 'cannot restore slice from string'],
    ['a list for a map', { labels: [] }, 'cannot restore map from slice'],
    ['a text for a struct', { part: 'x' }, 'cannot restore struct from: string'],
    ['a number for a time', { when: 5 }, 'json: cannot unmarshal number into Go value of type string'],
    ['a bool for int or string', { port: true }, 'json: cannot unmarshal bool into Go value of type int32'],
    ['invalid base64', { blob: '*' }, 'error decoding from json: illegal base64 data at input byte 0'],
  ])('%s', (_, json, message) => {
    expect(() => convertTyped(table, 'Thing', json)).toThrow(new DecodeError(message));
  });
  test('truncates integers and reports unknown fields', () => {
    const { value, unknown } = convertTyped(table, 'Thing', { count: 3_000_000_000, oops: 1 });
    expect(value).toEqual({ ...empty, count: -1_294_967_296 });
    expect(unknown).toEqual(['oops']);
  });
});

describe('with the generated table', () => {
  const decodeKind = (kind: string, json: Json) => decodeTyped(builtins, typeOf(kind), json).value;
  test('canonicalizes a Pod', () => {
    const limits = { cpu: '0.5', memory: '1024Mi', 'nvidia.com/gpu': 1, small: '0.0001' };
    const pod = decodeKind('v1/Pod', { spec: { containers: [{ name: 'a', resources: { limits } }] } });
    expect(pod).toEqual({
      metadata: {},
      spec: {
        containers: [
          {
            name: 'a',
            resources: { limits: { cpu: '500m', memory: '1Gi', 'nvidia.com/gpu': '1', small: '1m' } },
          },
        ],
      },
      status: {},
    });
  });
  test('the error for a volume of the wrong type names the embedded struct', () => {
    const volumes = [{ name: 'v', emptyDir: { sizeLimit: true, medium: 1 } }];
    expect(() => decodeKind('v1/Pod', { spec: { volumes: [{ name: 'v', emptyDir: 'x' }] } })).toThrow(
      'json: cannot unmarshal string into Go struct field Volume.spec.volumes.VolumeSource.emptyDir of type v1.EmptyDirVolumeSource',
    );
    expect(() => decodeKind('v1/Pod', { spec: { volumes } })).toThrow(
      'quantities must match the regular expression',
    );
  });
  test('decodes CRD schemas with unions and raw defaults', () => {
    const schema = {
      type: 'object',
      default: { a: [1, null] },
      additionalProperties: false,
      items: { type: 'string', x: 1 },
    };
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }];
    const crd = decodeKind('apiextensions.k8s.io/v1/CustomResourceDefinition', { spec: { versions } });
    expect(crd).toMatchObject({
      spec: { versions: [{ schema: { openAPIV3Schema: { ...schema, items: { type: 'string' } } } }] },
      status: { conditions: null, storedVersions: null },
    });
  });
  test.each<[Json, Json]>([
    [{ items: [{ type: 'string', x: 1 }] }, { items: [{ type: 'string' }] }],
    [{ items: [] }, { items: null }],
    [{ additionalProperties: { type: 'string', x: 1 } }, { additionalProperties: { type: 'string' } }],
    [
      { dependencies: { a: ['b'], c: { type: 'string', x: 1 } } },
      { dependencies: { a: ['b'], c: { type: 'string' } } },
    ],
  ])('a union of schemas: %j', (schema, expected) => {
    const type = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps';
    expect(decodeTyped(builtins, type, schema)).toMatchObject({ value: expected, unknown: [] });
  });
  test('rejects a value that is neither a bool nor a schema', () => {
    const type = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps';
    expect(() => decodeTyped(builtins, type, { additionalProperties: 'x' })).toThrow(
      'boolean or JSON schema expected',
    );
  });
  test('rejects schemas that are nested too deeply', () => {
    let schema: Json = { type: 'object' };
    for (let i = 0; i < 5000; i++) schema = { properties: { a: schema } };
    const versions = [{ schema: { openAPIV3Schema: schema } }];
    expect(() =>
      decodeKind('apiextensions.k8s.io/v1/CustomResourceDefinition', { spec: { versions } }),
    ).toThrow('json: exceeded max depth');
  });
});
