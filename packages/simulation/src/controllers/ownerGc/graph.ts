// The state of the garbage collector: the served kinds, a cached view of the objects of each, and the owners known to be
// absent. Views follow the objects. The reconcile of the cluster key declares the set of views.

import { type Instant, isDue, minutes, plus } from '@lapse/base/instant';
import type { Kind, ObjectKey, PartialObject } from '@lapse/kube/api/kind';
import { apiVersionOf, type OwnerReference } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';
import type { CacheReader } from '@lapse/runtime/cache';
import type { DynamicView } from '@lapse/runtime/reconcileContext';
import { resourceId } from './kinds.ts';

export interface Found {
  readonly kind: Kind<PartialObject>;
  readonly object: PartialObject;
}

interface View {
  readonly kind: Kind<PartialObject>;
  readonly reader: CacheReader<PartialObject>;
}

/** Maximum number of remembered absent owners, as in kube-controller-manager. */
const MAX_ABSENT = 500;
/** How long to wait for the list of new kinds: several attempts, up to 30 s apart. */
const MAX_LIST_WAIT = minutes(2);

export class Graph {
  #served: readonly ServedKind[] = [];
  #definitions: string | undefined;
  #kinds = new Map<string, Kind>();
  #views = new Map<string, View>();
  readonly #absent = new Set<string>();
  #waitForListsUntil: Instant | undefined;

  /** Sets the served kinds. `definitions` is the CRD fingerprint that they match, unset while discovery is behind. */
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

  /** Replaces the set of views. */
  watch(views: readonly DynamicView[], now: Instant): void {
    const isNew = views.some(({ source }) => !this.#views.has(resourceId(source.kind)));
    if (isNew) this.#waitForListsUntil = plus(now, MAX_LIST_WAIT);
    this.#views = new Map(views.map((view) => [resourceId(view.source.kind), asView(view)]));
  }

  /** Whether an object missing from the views does not exist. The wait for kinds that cannot be listed is limited. */
  isComplete(now: Instant): boolean {
    if (this.#waitForListsUntil === undefined || isDue(this.#waitForListsUntil, now)) return true;
    for (const { reader } of this.#views.values()) if (!reader.synced) return false;
    this.#waitForListsUntil = undefined;
    return true;
  }

  /** The kind of an owner reference; undefined if it is not served in that version. */
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

  /** All objects with this uid as an owner, in any namespace. */
  dependentsOf(uid: string): Found[] {
    return this.#byIndex('owner', uid);
  }

  /** All objects with an owner of this kind (`group/Kind`). */
  dependentsOfKind(groupKind: string): Found[] {
    return this.#byIndex('ownerKind', groupKind);
  }

  /** The object with this uid; undefined if it is not cached. */
  withUid(uid: string): Found | undefined {
    return this.#byIndex('uid', uid)[0];
  }

  isKnownAbsent(reference: OwnerReference, namespace: string | undefined): boolean {
    return this.#absent.has(absentKey(reference, namespace));
  }

  /** Safe to remember, because an absent uid is never used again. */
  rememberAbsent(reference: OwnerReference, namespace: string | undefined): void {
    if (this.#absent.size >= MAX_ABSENT) {
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
