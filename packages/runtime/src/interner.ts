// Keys as numbers. A key's text ("namespace/name") is kept once per process; store, queue and timers hold its 32-bit id,
// which indexes their typed arrays. Ids are counted: one that nobody holds is forgotten and given out again, so that
// a cluster that creates a million differently named Jobs a day does not fill the memory with their names.

import { withRoom } from '@lapse/base/growing';
import type { ObjectKey } from '@lapse/kube/api/kind';

/** Stands for a key's text as long as somebody holds it. */
export type KeyId = number & { readonly __keyId: unique symbol };

const int32 = (length: number) => new Int32Array(length);

export class Interner {
  readonly #ids = new Map<string, KeyId>();
  readonly #texts: (string | undefined)[] = [];
  #holds = int32(1024);
  readonly #free: KeyId[] = [];

  /** How many keys are held. */
  get size(): number {
    return this.#ids.size;
  }

  /** The id of a text, held once more: every `intern` and `hold` needs its `release`. */
  intern(text: string): KeyId {
    const known = this.#ids.get(text);
    if (known !== undefined) {
      this.#holds[known]!++;
      return known;
    }
    const id = this.#free.pop() ?? (this.#texts.length as KeyId);
    this.#ids.set(text, id);
    this.#texts[id] = text;
    this.#holds = withRoom(this.#holds, id, int32);
    this.#holds[id] = 1;
    return id;
  }

  /** The id of a text that somebody holds. */
  find(text: string): KeyId | undefined {
    return this.#ids.get(text);
  }

  text(id: KeyId): string {
    const text = this.#texts[id];
    if (text === undefined) throw new Error(`key ${id} is not held by anybody`);
    return text;
  }

  hold(id: KeyId): void {
    if (!(this.#holds[id]! > 0)) throw new Error(`key ${id} is not held by anybody`);
    this.#holds[id]!++;
  }

  release(id: KeyId): void {
    const left = this.#holds[id]! - 1;
    if (!(left >= 0)) throw new Error(`key ${id} is not held by anybody`);
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
