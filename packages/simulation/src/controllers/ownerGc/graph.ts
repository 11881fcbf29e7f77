// Everything the collector knows: which kinds are served, a view of the objects of each, and the owners that were found
// not to exist. Views change by themselves as objects do; which views there are is stated by the pass over the cluster.

import { type Instant, isDue, minutes, plus } from '@lapse/base/instant';
import type { Kind, ObjectKey, PartialObject } from '@lapse/kube/api/kind';
import { apiVersionOf, type OwnerReference } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';
import type { CacheReader } from '@lapse/runtime/cache';
import type { DynamicView } from '@lapse/runtime/pass';
import { resourceId } from './kinds.ts';

export interface Found {
  readonly kind: Kind<PartialObject>;
  readonly object: PartialObject;
}

interface View {
  readonly kind: Kind<PartialObject>;
  readonly reader: CacheReader<PartialObject>;
}

/** As many absent owners are remembered as upstream remembers. */
const ABSENT = 500;
/** How long new kinds may take to be listed: some attempts, which are up to 30 s apart. */
const PATIENCE = minutes(2);

export class Graph {
  #served: readonly ServedKind[] = [];
  #definitions: string | undefined;
  #kinds = new Map<string, Kind>();
  #views = new Map<string, View>();
  readonly #absent = new Set<string>();
  #patience: Instant | undefined;

  /** These kinds are served; `definitions` is the state of definitions they belong to, unset while discovery is behind. */
  discovered(served: readonly ServedKind[], definitions: string | undefined): void {
    this.#served = served;
    this.#definitions = definitions;
    this.#kinds = new Map(served.map((kind) => [`${apiVersionOf(kind)}/${kind.kind}`, kind]));
  }

  get served(): readonly ServedKind[] {
    return this.#served;
  }
  get definitions(): string | undefined {
    return this.#definitions;
  }

  /** From now on these views are kept. */
  watch(views: readonly DynamicView[], now: Instant): void {
    const isNew = views.some(({ source }) => !this.#views.has(resourceId(source.kind)));
    if (isNew) this.#patience = plus(now, PATIENCE);
    this.#views = new Map(views.map((view) => [resourceId(view.source.kind), asView(view)]));
  }

  /** Whether what is not in the views can be taken not to exist; kinds that cannot be listed are not waited for forever. */
  isComplete(now: Instant): boolean {
    if (this.#patience === undefined || isDue(this.#patience, now)) return true;
    for (const { reader } of this.#views.values()) if (!reader.synced) return false;
    this.#patience = undefined;
    return true;
  }

  /** The kind an owner reference names, if it is served in that version. */
  kindOf({ apiVersion, kind }: OwnerReference): Kind | undefined {
    return this.#kinds.get(`${apiVersion}/${kind}`);
  }

  view(resource: string): View | undefined {
    return this.#views.get(resource);
  }

  get(resource: string, key: ObjectKey): Found | undefined {
    const view = this.#views.get(resource);
    const object = view?.reader.get(key);
    return view === undefined || object === undefined ? undefined : { kind: view.kind, object };
  }

  /** Whoever names this uid as an owner, wherever it is. */
  dependentsOf(uid: string): Found[] {
    return this.#byIndex('owner', uid);
  }

  /** Whoever names an owner of this kind (`group/Kind`). */
  dependentsOfKind(groupKind: string): Found[] {
    return this.#byIndex('ownerKind', groupKind);
  }

  /** The object with this uid, if it is known. */
  withUid(uid: string): Found | undefined {
    return this.#byIndex('uid', uid)[0];
  }

  isKnownAbsent(reference: OwnerReference, namespace: string | undefined): boolean {
    return this.#absent.has(absentKey(reference, namespace));
  }

  /** A uid that does not exist never will. */
  rememberAbsent(reference: OwnerReference, namespace: string | undefined): void {
    if (this.#absent.size >= ABSENT) {
      const [oldest] = this.#absent;
      this.#absent.delete(oldest!);
    }
    this.#absent.add(absentKey(reference, namespace));
  }

  #byIndex(index: string, value: string): Found[] {
    const found: Found[] = [];
    for (const { kind, reader } of this.#views.values())
      for (const object of reader.byIndex(index, value)) found.push({ kind, object });
    return found;
  }
}

const asView = ({ source, reader }: DynamicView): View => ({
  kind: source.kind as Kind<PartialObject>,
  reader: reader as unknown as CacheReader<PartialObject>,
});

const absentKey = (reference: OwnerReference, namespace: string | undefined): string =>
  [reference.apiVersion, reference.kind, namespace ?? '', reference.name, reference.uid].join(' ');
