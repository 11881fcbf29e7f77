// The bytes of one version, at rest. A good part of most objects says who manages which fields, in words that all objects
// of their form have in common (`fieldsV1` in managedFields): those words are kept once, and each version keeps the rest.

const NAME = Buffer.from('"fieldsV1":{');
const QUOTE = 34;
const BACKSLASH = 92;
const OPEN = 123;
const CLOSE = 125;
// Shorter ones cost more to point at than to keep; longer ones are few, and too much to remember.
const SHORTEST = 256;
const LONGEST = 16_384;

const known = new Map<string, Uint8Array>();
const MOST_KNOWN = 500;

/** Where in the bytes of its own a version has words that it shares. */
interface Cut {
  /** Offset in the bytes that were given. */
  readonly at: number;
  readonly words: Uint8Array;
}

export class Content {
  readonly #own: Uint8Array;
  readonly #cuts: readonly Cut[];
  readonly size: number;

  /** Copies what it keeps: `bytes` may be part of something larger. */
  constructor(bytes: Uint8Array) {
    this.size = bytes.length;
    this.#cuts = findCuts(bytes);
    this.#own = without(bytes, this.#cuts);
  }

  /** The bytes it was made from. Not to be edited. */
  get bytes(): Uint8Array {
    return this.#cuts.length === 0 ? this.#own : Buffer.concat(this.parts(), this.size);
  }

  /** The same in pieces that are not copied, for those who copy them elsewhere. */
  parts(): Uint8Array[] {
    if (this.#cuts.length === 0) return [this.#own];
    const parts: Uint8Array[] = [];
    let from = 0;
    let to = 0;
    for (const { at, words } of this.#cuts) {
      parts.push(this.#own.subarray(from, from + at - to), words);
      from += at - to;
      to = at + words.length;
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
    if (length >= SHORTEST && length <= LONGEST) cuts.push({ at, words: sharedWords(text, at, from) });
  }
  return cuts;
}

/** Behind the object that starts at `at`, or behind everything when it does not end. */
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

function sharedWords(text: Buffer, at: number, end: number): Uint8Array {
  const key = text.toString('latin1', at, end);
  let words = known.get(key);
  if (words === undefined) {
    words = Uint8Array.prototype.slice.call(text, at, end);
    // Whoever has the words keeps them; only those that come are compared with fewer.
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(key, words);
  }
  return words;
}

function without(bytes: Uint8Array, cuts: readonly Cut[]): Uint8Array {
  let size = bytes.length;
  for (const { words } of cuts) size -= words.length;
  // Not from the pool that buffers of a moment come from: one version would keep all of its neighbours there.
  const out = Buffer.allocUnsafeSlow(size);
  let from = 0;
  let to = 0;
  for (const { at, words } of cuts) {
    out.set(bytes.subarray(from, at), to);
    to += at - from;
    from = at + words.length;
  }
  out.set(bytes.subarray(from), to);
  return out;
}
