// Server-side apply as a table: the managers, what they apply, and the resulting object and managedFields.
// test/conformance/apply.kube.ts compares with kube-apiserver; this file tests the rules one by one.

import type { JsonObject } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import { customFieldType } from './customFieldType.ts';
import { ApplyConflict, ApplyError, applyObject, type Endpoint, trackUpdate } from './fieldManager.ts';
import { FieldSet, parseFieldSet } from './fieldSet.ts';
import { UNTYPED } from './fieldType.ts';

const text = { type: 'string' };
const schema: JsonObject = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer' },
        note: text,
        tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
        atoms: { type: 'array', items: text },
        free: { type: 'object', additionalProperties: text },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: { type: 'object', properties: { name: text, port: { type: 'integer' } } },
        },
      },
    },
    status: { type: 'object', properties: { phase: text } },
  },
};
const endpoint: Endpoint = {
  type: customFieldType(schema, UNTYPED),
  ignored: FieldSet.of(['f:status']),
  apiVersion: 'example.com/v1',
  subresource: '',
  empty: { apiVersion: 'example.com/v1', kind: 'Thing' },
};

const thing = (spec: JsonObject, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'x' },
  spec,
  ...more,
});

const apply = (live: JsonObject | undefined, manager: string, config: JsonObject, force = false) =>
  applyObject(endpoint, {
    ...(live === undefined ? {} : { live }),
    manager,
    config,
    force,
    now: '2026-01-01T00:00:00Z',
  });

function update(live: JsonObject | undefined, manager: string, next: JsonObject): JsonObject {
  const write = { ...(live === undefined ? {} : { live }), manager, now: '2026-01-01T00:00:01Z' };
  const managedFields = trackUpdate(endpoint, write, next);
  const metadata = { ...(next['metadata'] as JsonObject) };
  delete metadata['managedFields'];
  return { ...next, metadata: { ...metadata, ...(managedFields === undefined ? {} : { managedFields }) } };
}

/** `alpha Apply: {fields}` of every manager. */
const managers = (object: JsonObject): string[] => {
  const entries = (object['metadata'] as JsonObject)['managedFields'] as JsonObject[] | undefined;
  return (entries ?? []).map(
    (e) =>
      `${e['manager']} ${e['operation']} ${parseFieldSet(e['fieldsV1'])!.paths().join(' ')}${e['time'] === undefined ? ' (no time)' : ''}`,
  );
};

const conflicts = (run: () => unknown): string[] => {
  try {
    run();
  } catch (cause) {
    if (cause instanceof ApplyConflict)
      return cause.conflicts.map(({ manager, paths }) => `${manager.manager}: ${paths.join(' ')}`);
    throw cause;
  }
  return [];
};

describe('apply', () => {
  const first = apply(undefined, 'alpha', thing({ size: 1, note: 'n' }));

  test('the applier owns exactly the fields that it sent', () => {
    expect(managers(first)).toEqual(['alpha Apply .spec.note .spec.size']);
  });

  test('removes fields that the applier no longer sends', () => {
    const second = apply(first, 'alpha', thing({ size: 1 }));
    expect(second['spec']).toEqual({ size: 1 });
    expect(managers(second)).toEqual(['alpha Apply .spec.size']);
  });

  test('keeps fields that another manager also applies', () => {
    const shared = apply(first, 'beta', thing({ note: 'n' }));
    expect(apply(shared, 'alpha', thing({ size: 1 }))['spec']).toEqual({ size: 1, note: 'n' });
  });

  test('an applier that changes no value has an entry without a time', () => {
    expect(managers(apply(first, 'beta', thing({ note: 'n' })))).toContain('beta Apply .spec.note (no time)');
  });

  test('a value of another manager is a conflict, and force takes it over', () => {
    const config = thing({ size: 2, note: 'm' });
    expect(conflicts(() => apply(first, 'beta', config))).toEqual(['alpha: .spec.note .spec.size']);
    const taken = apply(first, 'beta', config, true);
    expect(taken['spec']).toEqual({ size: 2, note: 'm' });
    expect(managers(taken)).toEqual(['beta Apply .spec.note .spec.size']);
  });

  test('does not modify the configuration or share mutable parts with it', () => {
    const config = thing({ free: { a: '1' } });
    const result = apply(undefined, 'alpha', config);
    (result['spec'] as { free: JsonObject }).free['a'] = '2';
    expect(config['spec']).toEqual({ free: { a: '1' } });
  });

  test('assigns untracked fields to before-first-apply', () => {
    const old = thing({ size: 1, note: 'n' });
    expect(conflicts(() => apply(old, 'alpha', thing({ size: 2 })))).toEqual([
      'before-first-apply: .spec.size',
    ]);
  });
});

describe('lists', () => {
  const ports = (...names: string[]) => thing({ ports: names.map((name) => ({ name, port: 1 })) });
  const names = (object: JsonObject) =>
    ((object['spec'] as JsonObject)['ports'] as { name: string }[]).map(({ name }) => name).join('');

  test.each([
    ['new items follow their predecessors', 'abc', 'xb', 'axbc'],
    ['the order of the configuration wins', 'abc', 'ca', 'bca'],
    ['items of other managers keep their position', 'abcd', 'bd', 'abcd'],
    ['without common items the old ones come first', 'ab', 'xy', 'abxy'],
  ])('%s: %s + %s = %s', (_, before, applied, after) => {
    const live = apply(undefined, 'alpha', ports(...before));
    expect(names(apply(live, 'beta', ports(...applied)))).toBe(after);
  });

  test('an item is removed when its only manager drops it', () => {
    const both = apply(apply(undefined, 'alpha', ports('a')), 'beta', ports('b'));
    expect(names(apply(both, 'alpha', thing({ ports: [] })))).toBe('b');
  });

  test('merges sets by value and replaces atomic lists', () => {
    const live = apply(undefined, 'alpha', thing({ tags: ['a'], atoms: ['a'] }));
    expect(apply(live, 'beta', thing({ tags: ['b'] }))['spec']).toEqual({ tags: ['a', 'b'], atoms: ['a'] });
    expect(conflicts(() => apply(live, 'beta', thing({ atoms: ['b'] })))).toEqual(['alpha: .spec.atoms']);
  });
});

describe('errors', () => {
  test.each([
    ['an unknown field', { colour: 'red' }, '.spec.colour: field not declared in schema'],
    ['a wrong type', { note: 1 }, '.spec.note: expected string, got &value.valueUnstructured{Value:1}'],
    ['a map for a list', { tags: {} }, '.spec.tags: expected list, got &{map[]}'],
    [
      'two items with the same key',
      { ports: [{ name: 'a' }, { name: 'a' }] },
      '.spec.ports: duplicate entries for key [name="a"]',
    ],
    [
      'an item without its key',
      { ports: [{ port: 1 }] },
      '.spec.ports: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
    ],
    [
      'a list in a set',
      { tags: [['a']] },
      '.spec.tags: element 0: not supported: associative list with lists as elements',
    ],
  ])('%s', (_, spec, problem) => {
    expect(() => apply(undefined, 'alpha', thing(spec as JsonObject))).toThrow(new ApplyError(problem));
  });

  test('prototype names are ordinary field names', () => {
    const config = thing({ free: JSON.parse('{"__proto__":"1","constructor":"2"}') as JsonObject });
    const result = apply(apply(undefined, 'alpha', config), 'alpha', config);
    expect(Object.keys((result['spec'] as { free: JsonObject }).free)).toEqual(['__proto__', 'constructor']);
    expect(managers(result)).toEqual(['alpha Apply .spec.free.__proto__ .spec.free.constructor']);
  });
});

describe('updates', () => {
  test('a create owns all fields including maps, except the status', () => {
    const made = update(undefined, 'maker', thing({ free: { a: '1' } }, { status: { phase: 'New' } }));
    expect(managers(made)).toEqual(['maker Update .spec .spec.free .spec.free.a']);
  });

  test('an update owns exactly the changed values', () => {
    const made = apply(undefined, 'alpha', thing({ size: 1, note: 'n' }));
    const next = update(made, 'editor', { ...made, spec: { size: 2, note: 'n' } });
    expect(managers(next)).toEqual(['alpha Apply .spec.note', 'editor Update .spec.size']);
  });

  test('an empty managedFields list resets all managers permanently', () => {
    const made = apply(undefined, 'alpha', thing({ size: 1 }));
    const reset = update(made, 'editor', { ...made, metadata: { name: 'x', managedFields: [] } });
    expect(managers(reset)).toEqual([]);
    expect(managers(update(reset, 'editor', { ...reset, spec: { size: 2 } }))).toEqual([]);
  });

  test('keeps the previous managers when managedFields is invalid', () => {
    const made = apply(undefined, 'alpha', thing({ size: 1 }));
    const bad = {
      manager: 'x',
      operation: 'Update',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'q:': {} },
    };
    const next = update(made, 'editor', { ...made, metadata: { name: 'x', managedFields: [bad] } });
    expect(managers(next)).toEqual(['alpha Apply .spec.size']);
  });

  test('merges the two oldest entries at the eleventh updater', () => {
    let object = update(undefined, 'm0', thing({ free: { k0: '1' } }));
    for (let i = 1; i <= 10; i++) {
      const free = { ...((object['spec'] as JsonObject)['free'] as JsonObject), [`k${i}`]: '1' };
      object = update(object, `m${i}`, { ...object, spec: { free } });
    }
    expect(managers(object)).toHaveLength(10);
    expect(managers(object)[0]).toBe('ancient-changes Update .spec .spec.free .spec.free.k0 .spec.free.k1');
  });
});
