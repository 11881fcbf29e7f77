// What is deleted together with an object, as a table. Objects are written as `name < owner!, owner`: `!` sets
// blockOwnerDeletion, `*` after the name is a foreign finalizer, `~` is the orphan finalizer.

import { instant } from '@lapse/base/instant';
import type { KubeObject, OwnerReference } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';
import type { Propagation } from '@lapse/simulation/controllers/ownerGc/compute';
import { describe, expect, test } from 'vitest';
import { Cascade, type Deletion } from './cascade.ts';
import { Ownership } from './ownership.ts';

const kind = (name: string, resource: string, namespaced: boolean): ServedKind => ({
  group: '',
  version: 'v1',
  kind: name,
  resource,
  namespaced,
  verbs: ['delete', 'list', 'watch'],
  shortNames: [],
  categories: [],
  singular: '',
  subresources: [],
});
const MAP = kind('ConfigMap', 'configmaps', true);
const SPACE = kind('Namespace', 'namespaces', false);

/** Formats: `x`, `x!`, `Namespace:x`. */
function reference(text: string): OwnerReference {
  const parts = text.replace('!', '').split(':');
  const uid = parts.at(-1)!;
  const of = parts.length === 2 ? parts[0]! : 'ConfigMap';
  return {
    apiVersion: 'v1',
    kind: of,
    name: uid,
    uid,
    ...(text.endsWith('!') ? { blockOwnerDeletion: true } : {}),
  };
}

function object(text: string): KubeObject {
  const [named = '', owners] = text.split(' < ');
  const name = named.replace(/[*~]/g, '');
  const finalizers = [
    ...(named.includes('*') ? ['x.dev/hold'] : []),
    ...(named.includes('~') ? ['orphan'] : []),
  ];
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace: 'ns',
      uid: name,
      ...(finalizers.length > 0 ? { finalizers } : {}),
      ...(owners === undefined ? {} : { ownerReferences: owners.split(', ').map(reference) }),
    },
  };
}

/** Deletes `a` (or the given object) after everything in `before`. Returns `name@depth`. */
function taken(
  world: readonly string[],
  propagation: Propagation | 'unsaid' = 'Background',
  deleted: readonly string[] = ['a'],
): string[] {
  const cascade = new Cascade(ownershipOf(world));
  return deleted.flatMap((name, i) =>
    cascade
      .delete({
        object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name, uid: name },
        at: instant(i),
        ...(propagation === 'unsaid' ? {} : { propagation }),
      })
      .dependents.map(({ object: one, depth }) => `${one.name}@${depth}`),
  );
}

const ownershipOf = (world: readonly string[]): Ownership => {
  const ownership = new Ownership([MAP, SPACE], new Set());
  for (const text of world) ownership.add(MAP, object(text));
  return ownership;
};

const POLICIES: Readonly<Record<string, Propagation>> = { B: 'Background', F: 'Foreground', O: 'Orphan' };

/** Format: `a F`, with the propagation policy as the second word. */
function deletion(text: string): Deletion {
  const [name = '', policy = ''] = text.split(' ');
  return {
    object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name, uid: name },
    at: instant(0),
    propagation: POLICIES[policy]!,
  };
}

/** Several rules about one object are competing deletions. */
function deletions(texts: readonly string[]): Deletion[] {
  const all = new Map<string, Deletion>();
  for (const one of texts.map(deletion)) {
    const known = all.get(one.object.uid);
    all.set(one.object.uid, known === undefined ? one : { ...known, competing: [one.propagation] });
  }
  return [...all.values()];
}

/** Deletes all at the same time. Results that depend on the order have a question mark. */
const together = (world: readonly string[], texts: readonly string[]): string[] =>
  new Cascade(ownershipOf(world))
    .deleteTogether(deletions(texts))
    .flatMap(({ dependents }) =>
      dependents.map(({ object: { name }, uncertain }) => `${name}${uncertain ? '?' : ''}`),
    );

/** When an object no longer exists: certain, uncertain. */
function lasts(world: readonly string[], texts: readonly string[], name: string) {
  const cascade = new Cascade(ownershipOf(world));
  cascade.deleteTogether(deletions(texts));
  const { certain, uncertain } = cascade.lastOf(name);
  return [certain, uncertain];
}

describe('deleted together with an object', () => {
  test.each<[string, string[], string[]]>([
    ['nothing without any dependents', taken(['a', 'b']), []],
    ['its dependents, and their dependents', taken(['a', 'b < a', 'c < b', 'd']), ['b@1', 'c@2']],
    [
      'its dependents with foreground propagation',
      taken(['a', 'b < a!', 'c < b'], 'Foreground'),
      ['b@1', 'c@2'],
    ],
    ['no dependents with orphan propagation', taken(['a', 'b < a'], 'Orphan'), []],
    ['no dependent with another owner', taken(['a', 'x', 'b < a, x']), []],
    ['a dependent whose other owner never existed', taken(['a', 'b < a, ghost']), ['b@1']],
    ['a dependent after its second owner', taken(['a', 'x', 'b < a, x'], 'Background', ['a', 'x']), ['b@1']],
    ['a dependent that names the owner twice', taken(['a', 'b < a, a']), ['b@1']],
    ['no dependent that was orphaned before', taken(['a', 'x', 'b < a, x'], 'Orphan', ['a', 'x']), []],
    ['no dependents of a dependent with the orphan finalizer', taken(['a', 'b~ < a', 'c < b']), ['b@1']],
    [
      'no dependents of an object with the orphan finalizer, without a propagation policy',
      taken(['a~', 'b < a'], 'unsaid'),
      [],
    ],
    [
      'its dependents despite the orphan finalizer, with a propagation policy',
      taken(['a~', 'b < a'], 'Background'),
      ['b@1'],
    ],
    ['no dependents of an object with a foreign finalizer', taken(['a*', 'b < a']), []],
    ['no dependents of a dependent with a foreign finalizer', taken(['a', 'b* < a', 'c < b']), ['b@1']],
    [
      'its dependents despite a foreign finalizer, with foreground propagation',
      taken(['a*', 'b < a!'], 'Foreground'),
      ['b@1'],
    ],
    [
      'all members of an ownership cycle',
      taken(['a < c!', 'b < a!', 'c < b!'], 'Foreground'),
      ['b@1', 'c@2'],
    ],
    ['nothing with an owner of a kind that is not served', taken(['a', 'b < a, Widget:w']), []],
    ['a dependent of a cluster-scoped owner', taken(['b < Namespace:a']), ['b@1']],
  ])('%s', (_, is, should) => expect(is).toEqual(should));

  test.each<[string, string[], string[]]>([
    ['two owners: the dependent is deleted', together(['a', 'x', 'b < a, x'], ['a B', 'x B']), ['b']],
    ['two owners with any propagation policy', together(['a', 'x', 'b < a, x'], ['a F', 'x B']), ['b']],
    [
      'a third owner that is not deleted keeps it',
      together(['a', 'x', 'y', 'b < a, x, y'], ['a B', 'x B']),
      [],
    ],
    ['one owner orphans it: depends on the order', together(['a', 'x', 'b < a, x'], ['a O', 'x B']), ['b?']],
    ['all owners orphan it: it is kept', together(['a', 'x', 'b < a, x'], ['a O', 'x O']), []],
    [
      'its own dependents depend on the order too',
      together(['a', 'x', 'b < a, x', 'c < b'], ['a O', 'x B']),
      ['b?', 'c?'],
    ],
    ['two rules for one owner, of which one orphans', together(['a', 'b < a'], ['a F', 'a O']), ['b?']],
    ['two rules with the same propagation policy', together(['a', 'b < a'], ['a F', 'a B']), ['b']],
    ['an owner that waits for it and is stuck: it is deleted', together(['a*', 'b < a!'], ['a F']), ['b']],
    [
      'an owner that does not wait and is stuck: depends on the order',
      together(['a*', 'b < a'], ['a F']),
      ['b?'],
    ],
    [
      'one owner waits and is stuck, the other is deleted',
      together(['a*', 'x', 'b < a!, x'], ['a F', 'x B']),
      ['b'],
    ],
    ['both owners wait for it and are stuck', together(['a*', 'x*', 'b < a!, x!'], ['a F', 'x F']), ['b']],
    ['the other owner is kept in any order', together(['a*', 'x*', 'b < a!, x!'], ['a F', 'x B']), []],
    [
      'the owner that is deleted first decides about its dependents',
      together(['a', 'x', 'b* < a!, x', 'c < b!'], ['a F', 'x B']),
      ['b', 'c?'],
    ],
    [
      'in the foreground its dependents are deleted too',
      together(['a', 'b* < a!', 'c < b!'], ['a F']),
      ['b', 'c'],
    ],
    [
      'by its own rule or with its owner: its dependents depend on the order',
      together(['a', 'b < a', 'c < b'], ['a B', 'b O']),
      ['c?'],
    ],
    ['by its own rule alone it orphans its dependents', together(['a', 'b < a', 'c < b'], ['b O']), []],
  ])('deletions at the same time: %s', (_, is, should) => expect(is).toEqual(should));

  test.each<[string, readonly (number | string | undefined)[], readonly (number | string | undefined)[]]>([
    ['deleted without any finalizer', lasts(['a'], ['a B'], 'a'), [0, undefined]],
    ['a foreign finalizer keeps it', lasts(['a*'], ['a B'], 'a'), [undefined, undefined]],
    [
      'it waits for a dependent with a finalizer',
      lasts(['a', 'b* < a!'], ['a F'], 'a'),
      [undefined, undefined],
    ],
    ['it does not wait for that dependent', lasts(['a', 'b* < a'], ['a F'], 'a'), [0, undefined]],
    ['it waits in some orders', lasts(['a', 'x', 'b* < a!, x'], ['a F', 'x B'], 'a'), [undefined, 0]],
    ['it is kept in some orders', lasts(['a', 'x', 'b < a, x'], ['a O', 'x B'], 'b'), [undefined, 0]],
    [
      'it waits for a dependent whose state is unknown',
      lasts(['a', 'b < a!, Widget:w'], ['a F'], 'a'),
      [undefined, undefined],
    ],
  ])('the object no longer exists: %s', (_, is, should) => expect(is).toEqual(should));

  test('an object that may have been deleted before is certainly deleted later', () => {
    const cascade = new Cascade(ownershipOf(['a', 'x', 'b < a, x', 'c < b']));
    cascade.deleteTogether([deletion('a O'), deletion('x B')]);
    expect(cascade.endOf('b')).toBeUndefined();
    cascade.delete({ ...deletion('b B'), at: instant(5) });
    expect([cascade.endOf('b'), cascade.lastOf('b')]).toEqual([5, { certain: 5, uncertain: 0 }]);
  });

  test('at most a thousand objects are named, the others are counted', () => {
    const ownership = new Ownership([MAP], new Set());
    for (let i = 0; i < 1500; i++) ownership.add(MAP, object(`m${i} < a`));
    const { dependents, moreDependents } = new Cascade(ownership).delete({
      object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name: 'a', uid: 'a' },
      at: instant(0),
    });
    expect([dependents.length, moreDependents]).toEqual([1000, 500]);
  });

  test('the deletion of a namespace deletes all objects in it, regardless of owners', () => {
    const ownership = new Ownership([MAP, SPACE], new Set(['ns']));
    for (const text of ['x', 'y < x', 'z*']) ownership.add(MAP, object(text));
    ownership.add(MAP, {
      ...object('other'),
      metadata: { name: 'other', namespace: 'elsewhere', uid: 'other' },
    });
    const { dependents } = new Cascade(ownership).delete({
      object: { apiVersion: 'v1', kind: 'Namespace', name: 'ns', uid: 'ns-uid' },
      at: instant(0),
    });
    expect(dependents.map(({ object: one }) => one.name).sort()).toEqual(['x', 'y', 'z']);
  });

  test('an owner reference to an object in another namespace is ignored', () => {
    const ownership = new Ownership([MAP], new Set());
    ownership.add(MAP, { ...object('x'), metadata: { name: 'x', namespace: 'elsewhere', uid: 'x' } });
    ownership.add(MAP, object('b < a, x'));
    const cascade = new Cascade(ownership);
    const a = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name: 'a', uid: 'a' };
    expect(cascade.delete({ object: a, at: instant(0) }).dependents).toHaveLength(1);
  });
});
