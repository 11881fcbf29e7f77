import type { KubeObject } from '@lapse/kube/api/object';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deepFreeze } from './freeze.ts';
import { Interner } from './interner.ts';
import { type Change, Store } from './store.ts';

interface Pod extends KubeObject {
  node?: string;
}
const pod = (name: string, version: number, node?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'n', uid: name, resourceVersion: String(version) },
  ...(node === undefined ? {} : { node }),
});
const byNode = (p: Pod) => (p.node === undefined ? [] : [p.node]);

function setup(freeze = false) {
  const interner = new Interner();
  const store = new Store<Pod>({ interner, freeze });
  store.addIndex('node', byNode);
  const remove = (name: string) => {
    let seen: Change<Pod> | undefined;
    const id = store.find({ namespace: 'n', name });
    if (id !== undefined)
      store.remove(id, (change) => {
        seen = change;
      });
    return seen;
  };
  return { interner, store, remove };
}

describe('Store', () => {
  test('returns the object before and after each write', () => {
    const { store, remove } = setup();
    const [a, b] = [pod('a', 1), pod('a', 2)];
    expect(store.put(a)).toMatchObject({ before: undefined, after: a });
    expect(store.put(b)).toMatchObject({ before: a, after: b });
    expect(remove('a')).toMatchObject({ before: b, after: undefined });
    expect(remove('a')).toBeUndefined();
  });

  test('does not find a key that only another store has', () => {
    const { store, interner } = setup();
    interner.intern('n/a');
    expect([store.get({ namespace: 'n', name: 'a' }), store.find({ namespace: 'n', name: 'a' })]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('keeps the id valid while the removal is emitted, so that the receiver can hold it', () => {
    const { store, interner } = setup();
    const { id } = store.put(pod('a', 1));
    store.remove(id, (change) => {
      expect(interner.text(change.id)).toBe('n/a');
      interner.hold(change.id);
    });
    expect(interner.text(id)).toBe('n/a');
    interner.release(id);
    expect(interner.size).toBe(0);
  });

  test('indexes existing objects when an index is added', () => {
    const { store } = setup();
    store.put(pod('a', 1, 'x'));
    store.addIndex('upper', (p) => byNode(p).map((n) => n.toUpperCase()));
    expect(store.byIndex('upper', 'X')).toHaveLength(1);
  });

  test('throws for two functions with one index name and for an unknown index', () => {
    const { store } = setup();
    expect(() => store.addIndex('node', () => [])).toThrow(
      /index node is already defined with another function/,
    );
    expect(() => store.addIndex('node', byNode)).not.toThrow();
    expect(() => store.byIndex('owner', 'x')).toThrow(/index owner does not exist/);
  });

  test('freezes stored objects deeply', () => {
    const { store } = setup(true);
    store.put({ ...pod('a', 1), spec: { list: [{ x: 1 }] } });
    const found = store.get({ namespace: 'n', name: 'a' }) as unknown as { spec: { list: { x: number }[] } };
    expect(() => {
      found.spec.list[0]!.x = 2;
    }).toThrow(TypeError);
    expect(() => found.spec.list.push({ x: 3 })).toThrow(TypeError);
  });

  test('does not descend into frozen objects when freezing again', () => {
    const shared = deepFreeze({ a: {} });
    expect(deepFreeze({ shared }).shared).toBe(shared);
  });

  test('removes objects, index entries and keys on clear', () => {
    const { store, interner } = setup();
    store.put(pod('a', 1, 'x'));
    store.clear();
    expect([store.size, store.byIndex('node', 'x'), interner.size]).toEqual([0, [], 0]);
  });
});

test('an index returns the same objects as a scan (random writes, several values per object)', () => {
  const names = fc.constantFrom('a', 'b', 'c', 'd');
  const nodes = fc.option(fc.constantFrom('x', 'y'), { nil: undefined });
  const command = fc.record({ name: names, put: fc.boolean(), node: nodes, other: nodes });
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
      const { store, interner, remove } = setup();
      store.addIndex('both', (p) => [p.node, (p as { other?: string }).other].filter((v) => v !== undefined));
      commands.forEach(({ name, put, node, other }, version) => {
        if (put) store.put(Object.assign(pod(name, version, node), other === undefined ? {} : { other }));
        else remove(name);
        for (const value of ['x', 'y']) {
          const scan = [...store.values()].filter((p) => p.node === value || p.other === value);
          expect(new Set(store.byIndex('both', value))).toEqual(new Set(scan));
          expect(new Set(store.byIndex('node', value))).toEqual(
            new Set(scan.filter((p) => p.node === value)),
          );
        }
        expect(interner.size).toBe(store.size);
      });
    }),
  );
});
