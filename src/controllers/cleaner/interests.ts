// Which Cleaners care about which objects, kept in step with what their passes declare. A change of an object wakes those
// whose name or labels it had before or has after, and nobody else.

import type { ObjectKey } from '#api/kind';
import type { KubeObject } from '#api/object';
import type { Source } from '#runtime/source';

export interface Interest {
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  /** One of the two; neither: any object whose name ends with `suffix`. */
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

interface Entry {
  readonly key: ObjectKey;
  readonly interests: readonly Interest[];
}

export class Interests {
  readonly #byKey = new Map<string, Entry>();
  readonly #byPlace = new Map<string, Map<string, Entry>>();

  /** How many Cleaners look at something. */
  get size(): number {
    return this.#byKey.size;
  }

  /** From now on the key cares about exactly these. */
  set(key: ObjectKey, interests: readonly Interest[]): void {
    const id = idOf(key);
    const before = this.#byKey.get(id);
    for (const place of placesOf(before)) this.#leave(place, id);
    this.#byKey.delete(id);
    if (interests.length === 0) return;
    const entry: Entry = { key, interests };
    this.#byKey.set(id, entry);
    for (const place of placesOf(entry)) {
      const here = this.#byPlace.get(place) ?? new Map<string, Entry>();
      this.#byPlace.set(place, here.set(id, entry));
    }
  }

  /** Whom an object of a source concerns. */
  *concerned(object: KubeObject, { kind, namespace = '' }: Source): Generator<ObjectKey> {
    const { group, resource } = kind;
    const place = placeOf(group, resource, namespace);
    for (const { key, interests } of this.#byPlace.get(place)?.values() ?? [])
      if (interests.some((one) => placeOfInterest(one) === place && concerns(one, object))) yield key;
  }

  #leave(place: string, id: string): void {
    const here = this.#byPlace.get(place);
    here?.delete(id);
    if (here?.size === 0) this.#byPlace.delete(place);
  }
}

const idOf = ({ namespace = '', name }: ObjectKey): string => `${namespace}/${name}`;
const placeOfInterest = ({ group, resource, namespace }: Interest) => placeOf(group, resource, namespace);
const placesOf = (entry: Entry | undefined): Set<string> =>
  new Set((entry?.interests ?? []).map(placeOfInterest));
