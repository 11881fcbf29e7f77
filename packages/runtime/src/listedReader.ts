// Objects that were listed once, with the interface of a controller's caches. Code that gathers the input of a decision
// can then serve both a reconcile and a forecast.

import { describeKind, type Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { kindId } from './definition.ts';
import { Interner } from './interner.ts';
import type { KindReader } from './reconcileContext.ts';
import type { Source } from './source.ts';
import { Store } from './store.ts';

export interface ListedSource {
  readonly source: Source;
  /** All objects of the source, after its projection. */
  readonly objects: readonly KubeObject[];
}

/** At most one source per kind. `byIndex` uses the indexes of the source. */
export function listedReader(lists: readonly ListedSource[]): KindReader {
  const interner = new Interner();
  const stores = new Map<string, Store<KubeObject>>();
  for (const { source, objects } of lists) {
    const store = new Store<KubeObject>({ interner });
    for (const [name, values] of Object.entries(source.indexes ?? {})) store.addIndex(name, values);
    for (const object of objects) store.put(object);
    stores.set(kindId(source.kind), store);
  }
  const storeOf = <T extends KubeObject>(kind: Kind<T>): Store<T> => {
    const store = stores.get(kindId(kind as unknown as Kind));
    if (store === undefined) throw new Error(`${describeKind(kind as unknown as Kind)} was not listed`);
    return store as unknown as Store<T>;
  };
  return {
    isSynced: (kind) => stores.has(kindId(kind)),
    get: (kind, key) => storeOf(kind).get(key),
    list: (kind) => storeOf(kind).values(),
    byIndex: (kind, index, value) => storeOf(kind).byIndex(index, value),
  };
}
