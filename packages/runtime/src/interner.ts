// Maps keys to integers. A key's text ("namespace/name") is stored once per process. Store, queue and timers use its
// 32-bit id as an index into typed arrays. Ids are reference-counted and reused, so that a cluster that creates a million
// differently named Jobs a day does not fill the memory with their names.

import { growToIndex } from '@lapse/base/growToIndex';
import type { ObjectKey } from '@lapse/kube/api/kind';

/** Identifies a key's text while its reference count is above zero. */
export type KeyId = number & { readonly __keyId: unique symbol };

const int32 = (length: number) => new Int32Array(length);

export class Interner {
  readonly #ids = new Map<string, KeyId>();
  readonly #texts: (string | undefined)[] = [];
  #holds = int32(1024);
  readonly #free: KeyId[] = [];

  /** Number of keys with a reference. */
  get size(): number {
    return this.#ids.size;
  }

  /** Returns the id of a text and adds a reference. Every `intern` and `hold` needs a `release`. */
  intern(text: string): KeyId {
    const known = this.#ids.get(text);
    if (known !== undefined) {
      this.#holds[known]!++;
      return known;
    }
    const id = this.#free.pop() ?? (this.#texts.length as KeyId);
    this.#ids.set(text, id);
    this.#texts[id] = text;
    this.#holds = growToIndex(this.#holds, id, int32);
    this.#holds[id] = 1;
    return id;
  }

  /** The id of a text; undefined if the text has no reference. */
  find(text: string): KeyId | undefined {
    return this.#ids.get(text);
  }

  text(id: KeyId): string {
    const text = this.#texts[id];
    if (text === undefined) throw new Error(`key ${id} has no reference`);
    return text;
  }

  hold(id: KeyId): void {
    if (!(this.#holds[id]! > 0)) throw new Error(`key ${id} has no reference`);
    this.#holds[id]!++;
  }

  release(id: KeyId): void {
    const left = this.#holds[id]! - 1;
    if (!(left >= 0)) throw new Error(`key ${id} has no reference`);
    this.#holds[id] = left;
    if (left > 0) return;
    this.#ids.delete(this.text(id));
    this.#texts[id] = undefined;
    this.#free.push(id);
  }
}

/** `namespace/name`, or `name` for cluster-scoped objects: names never contain a slash. */
export const keyText = ({ namespace, name }: ObjectKey): string =>
  namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;

export function parseKeyText(text: string): ObjectKey {
  const slash = text.indexOf('/');
  return slash === -1 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}
