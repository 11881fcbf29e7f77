// What goes along, as a table. Objects are written as `name < owner!, owner`: `!` blocks the owner's deletion, `*` behind
// the name is a finalizer of somebody else's, `~` one that asks for orphans.

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

/** `x`, `x!`, `Namespace:x`. */
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

/** Deletes `a` (or what is said) after everything in `before`; answers `name@depth`. */
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
      .takes.map(({ object: one, depth }) => `${one.name}@${depth}`),
  );
}

const ownershipOf = (world: readonly string[]): Ownership => {
  const ownership = new Ownership([MAP, SPACE], new Set());
  for (const text of world) ownership.add(MAP, object(text));
  return ownership;
};

const MANNERS: Readonly<Record<string, Propagation>> = { B: 'Background', F: 'Foreground', O: 'Orphan' };

/** `a F`. */
function deletion(text: string): Deletion {
  const [name = '', manner = ''] = text.split(' ');
  return {
    object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name, uid: name },
    at: instant(0),
    propagation: MANNERS[manner]!,
  };
}

/** Several rules about one object are rivals. */
function deletions(texts: readonly string[]): Deletion[] {
  const all = new Map<string, Deletion>();
  for (const one of texts.map(deletion)) {
    const known = all.get(one.object.uid);
    all.set(one.object.uid, known === undefined ? one : { ...known, rivals: [one.propagation] });
  }
  return [...all.values()];
}

/** All at once; what chance decides about has a question mark. */
const together = (world: readonly string[], texts: readonly string[]): string[] =>
  new Cascade(ownershipOf(world))
    .deleteTogether(deletions(texts))
    .flatMap(({ takes }) => takes.map(({ object: { name }, perhaps }) => `${name}${perhaps ? '?' : ''}`));

/** When nothing is left of one: surely, perhaps. */
function lasts(world: readonly string[], texts: readonly string[], name: string) {
  const cascade = new Cascade(ownershipOf(world));
  cascade.deleteTogether(deletions(texts));
  const { surely, perhaps } = cascade.lastOf(name);
  return [surely, perhaps];
}

describe('what goes along', () => {
  test.each<[string, string[], string[]]>([
    ['nothing is owned', taken(['a', 'b']), []],
    ['what it owns, and what that owns', taken(['a', 'b < a', 'c < b', 'd']), ['b@1', 'c@2']],
    ['in the foreground too', taken(['a', 'b < a!', 'c < b'], 'Foreground'), ['b@1', 'c@2']],
    ['not as orphans', taken(['a', 'b < a'], 'Orphan'), []],
    ['another owner keeps it', taken(['a', 'x', 'b < a, x']), []],
    ['an owner that never was does not', taken(['a', 'b < a, ghost']), ['b@1']],
    ['with the second owner it goes', taken(['a', 'x', 'b < a, x'], 'Background', ['a', 'x']), ['b@1']],
    ['also when both are one', taken(['a', 'b < a, a']), ['b@1']],
    ['orphaned first, it stays for good', taken(['a', 'x', 'b < a, x'], 'Orphan', ['a', 'x']), []],
    ['what asks for orphans leaves them', taken(['a', 'b~ < a', 'c < b']), ['b@1']],
    ['also at the top, when nobody says how', taken(['a~', 'b < a'], 'unsaid'), []],
    ['but not when somebody does', taken(['a~', 'b < a'], 'Background'), ['b@1']],
    ['a finalizer keeps it, and so what it owns', taken(['a*', 'b < a']), []],
    ['also below', taken(['a', 'b* < a', 'c < b']), ['b@1']],
    ['not in the foreground', taken(['a*', 'b < a!'], 'Foreground'), ['b@1']],
    ['a circle goes as a whole', taken(['a < c!', 'b < a!', 'c < b!'], 'Foreground'), ['b@1', 'c@2']],
    ['a kind that nobody serves keeps everything', taken(['a', 'b < a, Widget:w']), []],
    ['an owner in no namespace', taken(['b < Namespace:a']), ['b@1']],
  ])('%s', (_, is, should) => expect(is).toEqual(should));

  test.each<[string, string[], string[]]>([
    ['two owners at once take it', together(['a', 'x', 'b < a, x'], ['a B', 'x B']), ['b']],
    ['in whatever manner', together(['a', 'x', 'b < a, x'], ['a F', 'x B']), ['b']],
    ['a third one keeps it', together(['a', 'x', 'y', 'b < a, x, y'], ['a B', 'x B']), []],
    ['one of them leaves orphans: chance', together(['a', 'x', 'b < a, x'], ['a O', 'x B']), ['b?']],
    ['all of them do: it stays', together(['a', 'x', 'b < a, x'], ['a O', 'x O']), []],
    ['what it owns is chance, too', together(['a', 'x', 'b < a, x', 'c < b'], ['a O', 'x B']), ['b?', 'c?']],
    [
      'two rules for one owner, of which one leaves orphans',
      together(['a', 'b < a'], ['a F', 'a O']),
      ['b?'],
    ],
    ['two rules that agree', together(['a', 'b < a'], ['a F', 'a B']), ['b']],
    ['an owner waits for it and stays: it goes', together(['a*', 'b < a!'], ['a F']), ['b']],
    ['does not wait for it, and stays: chance', together(['a*', 'b < a'], ['a F']), ['b?']],
    ['the one waits and stays, the other goes', together(['a*', 'x', 'b < a!, x'], ['a F', 'x B']), ['b']],
    ['waits for it, and both stay', together(['a*', 'x*', 'b < a!, x!'], ['a F', 'x F']), ['b']],
    ['the other stays whatever happens', together(['a*', 'x*', 'b < a!, x!'], ['a F', 'x B']), []],
    [
      'which owner takes it decides about what it owns',
      together(['a', 'x', 'b* < a!, x', 'c < b!'], ['a F', 'x B']),
      ['b', 'c?'],
    ],
    ['in the foreground it takes that along', together(['a', 'b* < a!', 'c < b!'], ['a F']), ['b', 'c']],
    [
      'by its own rule or with its owner: chance for what it owns',
      together(['a', 'b < a', 'c < b'], ['a B', 'b O']),
      ['c?'],
    ],
    ['by itself alone it leaves orphans', together(['a', 'b < a', 'c < b'], ['b O']), []],
  ])('in one instant: %s', (_, is, should) => expect(is).toEqual(should));

  test.each<[string, readonly (number | string | undefined)[], readonly (number | string | undefined)[]]>([
    ['deleted and gone', lasts(['a'], ['a B'], 'a'), [0, undefined]],
    ['a finalizer keeps it', lasts(['a*'], ['a B'], 'a'), [undefined, undefined]],
    ['it waits for what a finalizer keeps', lasts(['a', 'b* < a!'], ['a F'], 'a'), [undefined, undefined]],
    ['it does not wait for that', lasts(['a', 'b* < a'], ['a F'], 'a'), [0, undefined]],
    ['perhaps it does', lasts(['a', 'x', 'b* < a!, x'], ['a F', 'x B'], 'a'), [undefined, 0]],
    ['perhaps it is spared', lasts(['a', 'x', 'b < a, x'], ['a O', 'x B'], 'b'), [undefined, 0]],
    [
      'it waits for what nobody can judge',
      lasts(['a', 'b < a!, Widget:w'], ['a F'], 'a'),
      [undefined, undefined],
    ],
  ])('nothing is left: %s', (_, is, should) => expect(is).toEqual(should));

  test('what may have gone before goes later all the same', () => {
    const cascade = new Cascade(ownershipOf(['a', 'x', 'b < a, x', 'c < b']));
    cascade.deleteTogether([deletion('a O'), deletion('x B')]);
    expect(cascade.endOf('b')).toBeUndefined();
    cascade.delete({ ...deletion('b B'), at: instant(5) });
    expect([cascade.endOf('b'), cascade.lastOf('b')]).toEqual([5, { surely: 5, perhaps: 0 }]);
  });

  test('a thousand are named, the others counted', () => {
    const ownership = new Ownership([MAP], new Set());
    for (let i = 0; i < 1500; i++) ownership.add(MAP, object(`m${i} < a`));
    const { takes, takesMore } = new Cascade(ownership).delete({
      object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name: 'a', uid: 'a' },
      at: instant(0),
    });
    expect([takes.length, takesMore]).toEqual([1000, 500]);
  });

  test('a namespace takes everything in it, whoever owns it', () => {
    const ownership = new Ownership([MAP, SPACE], new Set(['ns']));
    for (const text of ['x', 'y < x', 'z*']) ownership.add(MAP, object(text));
    ownership.add(MAP, {
      ...object('other'),
      metadata: { name: 'other', namespace: 'elsewhere', uid: 'other' },
    });
    const { takes } = new Cascade(ownership).delete({
      object: { apiVersion: 'v1', kind: 'Namespace', name: 'ns', uid: 'ns-uid' },
      at: instant(0),
    });
    expect(takes.map(({ object: one }) => one.name).sort()).toEqual(['x', 'y', 'z']);
  });

  test('an owner of the same uid in another namespace is none', () => {
    const ownership = new Ownership([MAP], new Set());
    ownership.add(MAP, { ...object('x'), metadata: { name: 'x', namespace: 'elsewhere', uid: 'x' } });
    ownership.add(MAP, object('b < a, x'));
    const cascade = new Cascade(ownership);
    const a = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name: 'a', uid: 'a' };
    expect(cascade.delete({ object: a, at: instant(0) }).takes).toHaveLength(1);
  });
});
