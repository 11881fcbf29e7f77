// Index of which Cleaners read which objects, updated with every reconcile. A change of an object triggers only the
// Cleaners whose name or labels match it before or after the change.

import type { ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Source } from '@lapse/runtime/source';

export interface Interest {
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  /** At most one of `name` and `labels`. Neither: any object whose name ends with `suffix`. */
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly suffix?: string;
}

const placeOf = (group: string, resource: string, namespace: string): string =>
  `${group}/${resource}/${namespace}`;

export function hasLabels(object: KubeObject, wanted: Readonly<Record<string, string>>): boolean {
  const labels = object.metadata.labels ?? {};
  return Object.entries(wanted).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
}

function concerns({ name, labels, suffix }: Interest, object: KubeObject): boolean {
  if (name !== undefined) return object.metadata.name === name;
  if (labels !== undefined) return hasLabels(object, labels);
  return suffix !== undefined && (object.metadata.name ?? '').endsWith(suffix);
}

/** Index keys of an object: one bucket by name, one per label pair, one for name suffixes. */
const named = (place: string, name: string): string => `${place}/name/${name}`;
const labelled = (place: string, key: string, value: string): string => `${place}/label/${key}=${value}`;
const suffixed = (place: string): string => `${place}/suffix`;

/** One label pair is enough to find an interest. All pairs are compared afterwards. */
function bucketOf({ group, resource, namespace, name, labels }: Interest): string {
  const place = placeOf(group, resource, namespace);
  if (name !== undefined) return named(place, name);
  const [pair] = Object.entries(labels ?? {}).sort(([a], [b]) => (a < b ? 1 : -1));
  return pair === undefined ? suffixed(place) : labelled(place, ...pair);
}

interface Entry {
  readonly key: ObjectKey;
  readonly interest: Interest;
}

export class Interests {
  readonly #byKey = new Map<string, readonly string[]>();
  readonly #buckets = new Map<string, Map<string, Entry[]>>();

  /** Number of Cleaners in the index. */
  get size(): number {
    return this.#byKey.size;
  }

  /** Replaces the interests of the key. */
  set(key: ObjectKey, interests: readonly Interest[]): void {
    const id = idOf(key);
    for (const bucket of this.#byKey.get(id) ?? []) this.#leave(bucket, id);
    this.#byKey.delete(id);
    if (interests.length === 0) return;
    const byBucket = Map.groupBy(interests, bucketOf);
    this.#byKey.set(id, [...byBucket.keys()]);
    for (const [bucket, here] of byBucket) {
      const known = this.#buckets.get(bucket) ?? new Map<string, Entry[]>();
      const entries = here.map((interest) => ({ key, interest }));
      this.#buckets.set(bucket, known.set(id, entries));
    }
  }

  /** The Cleaners that an object of a source concerns, each once. */
  *concerned(object: KubeObject, { kind, namespace = '' }: Source): Generator<ObjectKey> {
    const place = placeOf(kind.group, kind.resource, namespace);
    const { name = '', labels = {} } = object.metadata;
    const buckets = [named(place, name), suffixed(place)];
    for (const [label, value] of Object.entries(labels)) buckets.push(labelled(place, label, value));
    const told = new Set<string>();
    for (const bucket of buckets)
      for (const [id, entries] of this.#buckets.get(bucket) ?? []) {
        if (told.has(id) || !entries.some(({ interest }) => concerns(interest, object))) continue;
        told.add(id);
        yield entries[0]!.key;
      }
  }

  #leave(bucket: string, id: string): void {
    const here = this.#buckets.get(bucket);
    here?.delete(id);
    if (here?.size === 0) this.#buckets.delete(bucket);
  }
}

const idOf = ({ namespace = '', name }: ObjectKey): string => `${namespace}/${name}`;
