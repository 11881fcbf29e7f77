// One version of one object. All lists and watches share the committed bytes. The object is parsed on demand, and
// only the most recently used ones stay parsed to limit memory.

import type { Json } from '@lapse/kube/api/json';
import { parseJson } from '@lapse/kube/api/jsonParse';
import type { KubeObject } from '@lapse/kube/api/object';
import { Content } from './content.ts';

const LONG_NUMBER = /[0-9]{16}/;

/** Parses JSON written by this server: JSON.parse, except when a number may not fit a double. */
export function parseOwn(bytes: Uint8Array): KubeObject {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const value: Json = LONG_NUMBER.test(text) ? parseJson(text).value : (JSON.parse(text) as Json);
  return value as unknown as KubeObject;
}

// How many parsed objects stay in memory, regardless of the number of stored ones. Parsing again takes microseconds;
// objects that live for a while cost the garbage collector more.
const PARSED = 16;
const ring: (Stored | undefined)[] = new Array(PARSED);
let next = 0;

export class Stored {
  /** `namespace/name`, or `name` for cluster-scoped objects. Lists are in this order. */
  readonly key: string;
  readonly revision: number;
  readonly #content: Content;
  #object: KubeObject | undefined;
  #labels: Readonly<Record<string, string>> | undefined;

  constructor(key: string, revision: number, bytes: Uint8Array, object?: KubeObject) {
    this.key = key;
    this.revision = revision;
    this.#content = new Content(bytes);
    if (object) this.#keep(object);
  }

  /** The committed bytes. Callers must not modify them. */
  get bytes(): Uint8Array {
    return this.#content.bytes;
  }

  /** The same bytes as parts that are not copied. */
  get parts(): Uint8Array[] {
    return this.#content.parts();
  }

  /** The number of bytes. */
  get size(): number {
    return this.#content.size;
  }

  /** The parsed object. Shared: callers clone it before they change it. */
  get object(): KubeObject {
    return this.#object ?? this.#keep(parseOwn(this.bytes));
  }

  get labels(): Readonly<Record<string, string>> {
    this.#labels ??= this.object.metadata.labels ?? NO_LABELS;
    return this.#labels;
  }

  #keep(object: KubeObject): KubeObject {
    this.#object = object;
    const evicted = ring[next];
    if (evicted && evicted !== this) evicted.#object = undefined;
    ring[next] = this;
    next = (next + 1) % PARSED;
    return object;
  }
}

const NO_LABELS: Readonly<Record<string, string>> = Object.freeze({});
