import { clone, type Json, type JsonObject } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import { compile, props, wrap } from './structural.testkit.ts';

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
