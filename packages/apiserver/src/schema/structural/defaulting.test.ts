import { clone, type Json, type JsonObject } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import { compile, props, wrap } from './structural.testkit.ts';

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
