// What goes along, as a table. Objects are written as `name < owner!, owner`: `!` blocks the owner's deletion, `*` behind
// the name is a finalizer of somebody else's, `~` one that asks for orphans.

import { describe, expect, test } from 'vitest';
import type { KubeObject, OwnerReference } from '#api/object';
import { instant } from '#base/instant';
import type { ServedKind } from '#client/discovery';
import type { Propagation } from '#standins/ownerGc/compute';
import { Cascade } from './cascade.ts';
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
  const ownership = new Ownership([MAP, SPACE], new Set());
  for (const text of world) ownership.add(MAP, object(text));
  const cascade = new Cascade(ownership);
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
