import type { JsonObject } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import { findField } from './fieldPath.ts';

const schema: JsonObject = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { name: { type: 'string' }, 'a.b': { type: 'integer' } } },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    anything: { type: 'object', additionalProperties: true },
    list: { type: 'array', items: { type: 'string' } },
  },
};

describe('paths into a schema', () => {
  test.each<[string, string]>([
    ['.spec', 'spec'],
    ['.spec.name', 'spec.name'],
    [".spec['name']", 'spec.name'],
    [".spec['a.b']", 'spec.a.b'],
    [".labels['x.y/z']", 'labels[x.y/z]'],
    ['.labels.app', 'labels[app]'],
    ['.anything.at', 'anything[at]'],
    [".labels['it\\'s']", "labels[it's]"],
  ])('%s resolves to %s', (path, found) => {
    expect(findField(path, schema).path).toBe(found);
  });

  test.each<[string, string]>([
    ['spec', 'expected [ or . but got: spec'],
    ['.', 'unexpected end of JSON path'],
    ['.spec.', 'unexpected end of JSON path'],
    ['.none', 'does not refer to a valid field'],
    ['.spec.name.more', 'does not refer to a valid field'],
    ['.list.x', 'does not refer to a valid field'],
    ['.spec[name]', 'expected single quoted string but got name'],
    [".spec['name'", 'unexpected end of JSON path'],
    [".spec['name'.", 'expected ] but got .'],
    ['.constructor', 'does not refer to a valid field'],
    ['.__proto__', 'does not refer to a valid field'],
  ])('%s is refused: %s', (path, why) => {
    expect(() => findField(path, schema)).toThrow(why);
  });

  test('brackets can be forbidden', () => {
    expect(() => findField(".spec['name']", schema, { brackets: false })).toThrow(
      'array notation is not allowed',
    );
  });
});
