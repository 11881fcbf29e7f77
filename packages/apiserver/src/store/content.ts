// The stored bytes of one object version. `fieldsV1` in managedFields is a large part of most objects and is equal in
// objects of the same shape, so it is stored once and shared between versions.

const NAME = Buffer.from('"fieldsV1":{');
const QUOTE = 34;
const BACKSLASH = 92;
const OPEN = 123;
const CLOSE = 125;
// Shorter values cost more to reference than to store; longer ones are rare and too large to keep in the cache.
const MIN_SHARED_SIZE = 256;
const MAX_SHARED_SIZE = 16_384;

const sharedParts = new Map<string, Uint8Array>();
const MAX_SHARED_PARTS = 500;

/** A shared part and its position in a version. */
interface Cut {
  /** Offset in the original bytes. */
  readonly at: number;
  readonly shared: Uint8Array;
}

export class Content {
  readonly #own: Uint8Array;
  readonly #cuts: readonly Cut[];
  readonly size: number;

  /** Copies the bytes that it keeps: `bytes` may be part of a larger buffer. */
  constructor(bytes: Uint8Array) {
    this.size = bytes.length;
    this.#cuts = findCuts(bytes);
    this.#own = without(bytes, this.#cuts);
  }

  /** The original bytes. Callers must not modify them. */
  get bytes(): Uint8Array {
    return this.#cuts.length === 0 ? this.#own : Buffer.concat(this.parts(), this.size);
  }

  /** The same bytes as parts that are not copied, for callers that copy them elsewhere. */
  parts(): Uint8Array[] {
    if (this.#cuts.length === 0) return [this.#own];
    const parts: Uint8Array[] = [];
    let from = 0;
    let to = 0;
    for (const { at, shared } of this.#cuts) {
      parts.push(this.#own.subarray(from, from + at - to), shared);
      from += at - to;
      to = at + shared.length;
    }
    parts.push(this.#own.subarray(from));
    return parts;
  }
}

function findCuts(bytes: Uint8Array): Cut[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const cuts: Cut[] = [];
  for (let from = text.indexOf(NAME); from >= 0; from = text.indexOf(NAME, from)) {
    const at = from + NAME.length - 1;
    from = endOf(text, at);
    const length = from - at;
    if (length >= MIN_SHARED_SIZE && length <= MAX_SHARED_SIZE)
      cuts.push({ at, shared: sharedPart(text, at, from) });
  }
  return cuts;
}

/** The index after the object that starts at `at`, or the end of the text when the object is not closed. */
function endOf(text: Uint8Array, at: number): number {
  let depth = 0;
  let quoted = false;
  for (let i = at; i < text.length; i++) {
    const byte = text[i]!;
    if (byte === BACKSLASH) i++;
    else if (byte === QUOTE) quoted = !quoted;
    else if (quoted) continue;
    else if (byte === OPEN) depth++;
    else if (byte === CLOSE && --depth === 0) return i + 1;
  }
  return text.length;
}

function sharedPart(text: Buffer, at: number, end: number): Uint8Array {
  const key = text.toString('latin1', at, end);
  let shared = sharedParts.get(key);
  if (shared === undefined) {
    shared = Uint8Array.prototype.slice.call(text, at, end);
    // Existing versions keep their parts; only later versions are compared with fewer.
    if (sharedParts.size >= MAX_SHARED_PARTS) sharedParts.clear();
    sharedParts.set(key, shared);
  }
  return shared;
}

function without(bytes: Uint8Array, cuts: readonly Cut[]): Uint8Array {
  let size = bytes.length;
  for (const { shared } of cuts) size -= shared.length;
  // Not from the shared buffer pool: one version would keep its neighbours in the pool alive.
  const out = Buffer.allocUnsafeSlow(size);
  let from = 0;
  let to = 0;
  for (const { at, shared } of cuts) {
    out.set(bytes.subarray(from, at), to);
    to += at - from;
    from = at + shared.length;
  }
  out.set(bytes.subarray(from), to);
  return out;
}
