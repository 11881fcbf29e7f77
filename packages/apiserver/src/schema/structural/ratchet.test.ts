import { clone, type Json } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import { compile, props, texts, wrap } from './structural.testkit.ts';

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
