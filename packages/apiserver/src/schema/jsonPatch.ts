// JSON patch (RFC 6902) with the behavior of the library in kube-apiserver: `replace` and `copy` accept a missing map
// key, negative indices count from the end, and the first segment of a path is ignored. Does not modify documents and
// patches; the result shares parts with them.

import { clone, equal, getOwn, isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';
import type { JsonNotes } from '@lapse/kube/api/jsonParse';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import { decodePatchOperations, type PatchOperation } from './jsonPatchDecode.ts';

export const MAX_OPERATIONS = 10_000;
/** Limit for all copies of one patch together, in bytes of JSON. */
const MAX_COPIED = 3 * 1024 * 1024;

/** `malformed`: not a patch (400). `tooLarge`: 413. `inapplicable`: does not apply to this document (422). */
export class JsonPatchError extends Error {
  readonly kind: 'malformed' | 'tooLarge' | 'inapplicable';
  constructor(kind: JsonPatchError['kind'], message: string) {
    super(message);
    this.name = 'JsonPatchError';
    this.kind = kind;
  }
}

export interface JsonPatch {
  operations: readonly PatchOperation[];
  /** Strict decoding errors: `json patch unknown field "[0].valeu"`. */
  problems: readonly string[];
  /** The text contains `<`, `>` or `&` as escapes. */
  escapes?: boolean;
}

/**
 * Checks the structure of a patch. `notes` of parseJson add duplicate fields to the problems. Throws JsonPatchError.
 */
export function parseJsonPatch(value: Json, notes?: JsonNotes): JsonPatch {
  const decoded = decodePatchOperations(value, notes);
  if ('refusal' in decoded) throw new JsonPatchError('malformed', decoded.refusal);
  const count = decoded.operations.length;
  if (count > MAX_OPERATIONS)
    throw new JsonPatchError(
      'tooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${count}`,
    );
  return decoded;
}

/** Throws JsonPatchError when an operation does not apply. */
export function applyJsonPatch(document: Json, patch: JsonPatch): Json {
  const patcher = new Patcher(document, patch.escapes ?? false);
  for (const operation of patch.operations) patcher.apply(operation);
  return patcher.document;
}

/**
 * The same with keys in the order in which kube-apiserver writes the result: sorted in containers that an operation
 * accessed, unchanged elsewhere.
 */
export function applyJsonPatchInOrder(document: Json, patch: JsonPatch): Json {
  const patcher = new Patcher(document, patch.escapes ?? false, true);
  for (const operation of patch.operations) patcher.apply(operation);
  return patcher.written(patcher.document);
}

const inapplicable = (message: string): JsonPatchError => new JsonPatchError('inapplicable', message);
const decodeSegment = (segment: string): string => segment.replace(/~[01]/g, (s) => (s === '~1' ? '/' : '~'));

type Container = JsonObject | Json[];

class Patcher {
  document: Json;
  /** Containers created here, which may be modified in place; all others are copied first. */
  readonly #owned = new Set<Container>();
  readonly #escapes: boolean;
  readonly #inOrder: boolean;
  #copied = 0;

  constructor(document: Json, escapes: boolean, inOrder = false) {
    this.document = document;
    this.#escapes = escapes;
    this.#inOrder = inOrder;
    if (inOrder && typeof document === 'object' && document !== null) this.document = this.#own(document);
  }

  /** Accessed containers are written as a map, with sorted keys. */
  written(value: Json): Json {
    if (typeof value !== 'object' || value === null || !this.#owned.has(value)) return value;
    if (Array.isArray(value)) return value.map((item) => this.written(item));
    const out: JsonObject = {};
    for (const key of Object.keys(value).sort()) setOwn(out, key, this.written(value[key]!));
    return out;
  }

  apply(operation: PatchOperation): void {
    const { op, value } = operation;
    if (op === 'add') this.#add(pathOf(operation), value ?? null);
    else if (op === 'remove') this.#remove(pathOf(operation));
    else if (op === 'replace') this.#replace(pathOf(operation), value);
    else if (op === 'move') this.#move(fromOf(operation), pathOf(operation));
    else if (op === 'test') this.#test(pathOf(operation), value);
    else if (op === 'copy') this.#copy(fromOf(operation), pathOf(operation));
    else throw inapplicable(`Unexpected kind: ${op === '' ? 'unknown' : op}`);
  }

  #add(path: string, value: Json): void {
    const [container, key] = this.#find(path, true) ?? [];
    if (container === undefined)
      throw inapplicable(`add operation does not apply: doc is missing path: "${path}"`);
    if (!Array.isArray(container)) setOwn(container, key!, value);
    else if (key === '-') container.push(value);
    else container.splice(indexIn(container.length + 1, key!), 0, value);
  }

  #remove(path: string): void {
    const [container, key] = this.#find(path, true) ?? [];
    if (container === undefined)
      throw inapplicable(`remove operation does not apply: doc is missing path: "${path}"`);
    removeFrom(container, key!);
  }

  #replace(path: string, value: Json | undefined): void {
    if (path === '') {
      if (typeof value !== 'object' || value === null)
        throw inapplicable('replace operation value must be object or array');
      this.document = value;
      return;
    }
    const [container, key] = this.#find(path, true) ?? [];
    if (container === undefined)
      throw inapplicable(`replace operation does not apply: doc is missing path: ${path}`);
    replaceIn(container, key!, value ?? null);
  }

  #move(from: string, path: string): void {
    const [container, key] = this.#find(from, true) ?? [];
    if (container === undefined)
      throw inapplicable(`move operation does not apply: doc is missing from path: ${from}`);
    const value = read(container, key!);
    removeFrom(container, key!);
    this.#add(path, value ?? null);
  }

  #copy(from: string, path: string): void {
    // The copy is written after the path to its target was accessed.
    if (this.#inOrder && this.#find(from, true) !== undefined) this.#find(path, true);
    const [container, key] = this.#find(from, this.#inOrder) ?? [];
    if (container === undefined)
      throw inapplicable(`copy operation does not apply: doc is missing from path: ${from}`);
    const value = read(container, key!) ?? null;
    this.#copied += writeJson(value).length;
    if (this.#copied > MAX_COPIED)
      throw inapplicable(
        `Unable to complete the copy, the accumulated size increase of copy is ${this.#copied}`,
      );
    // A separate copy: both places may be modified later.
    this.#add(path, clone(this.#inOrder ? this.written(value) : value));
  }

  #test(path: string, expected: Json | undefined): void {
    const failed = () => inapplicable(`testing value ${path} failed`);
    if (path === '') {
      if (!this.#isSame(this.document, expected)) throw failed();
      if (this.#inOrder) this.document = this.#ownAll(this.document);
      return;
    }
    const [container, key] = this.#find(path, this.#inOrder) ?? [];
    if (container === undefined)
      throw inapplicable(`test operation does not apply: is missing path: ${path}`);
    const value = read(container, key!) ?? null;
    if (!this.#isSame(value, expected ?? null)) throw failed();
    if (this.#inOrder) replaceIn(container, key!, this.#ownAll(value));
  }

  /** Compares the JSON text; documents contain `<`, `>` and `&` as escapes. */
  #isSame(value: Json, expected: Json | undefined): boolean {
    return equal(value, expected) && (this.#escapes || !hasMarkup(value));
  }

  /** Marks everything below as accessed. */
  #ownAll(value: Json): Json {
    if (typeof value !== 'object' || value === null) return value;
    const own = this.#own(value);
    if (Array.isArray(own)) for (const [i, item] of own.entries()) own[i] = this.#ownAll(item);
    else for (const key of Object.keys(own)) setOwn(own, key, this.#ownAll(own[key]!));
    return own;
  }

  /** The container of the last segment of a path. With `edit`, makes the containers on the path modifiable. */
  #find(path: string, edit: boolean): [Container, string] | undefined {
    const segments = path.split('/');
    if (segments.length < 2 || typeof this.document !== 'object' || this.document === null) return undefined;
    let container: Container = edit ? this.#own(this.document) : this.document;
    if (edit) this.document = container;
    for (let i = 1; i < segments.length - 1; i++) {
      const key = decodeSegment(segments[i]!);
      const next = tryRead(container, key);
      if (typeof next !== 'object' || next === null) return undefined;
      const inner = edit ? this.#own(next) : next;
      if (inner !== next) replaceIn(container, key, inner);
      container = inner;
    }
    return [container, decodeSegment(segments.at(-1)!)];
  }

  #own(container: Container): Container {
    if (this.#owned.has(container)) return container;
    let copy: Container;
    if (Array.isArray(container)) copy = container.slice();
    else {
      copy = {};
      for (const key of Object.keys(container)) setOwn(copy, key, container[key]);
    }
    this.#owned.add(copy);
    return copy;
  }
}

const hasMarkup = (value: Json): boolean =>
  typeof value === 'string'
    ? /[<>&\u2028\u2029]/.test(value)
    : typeof value === 'object' && value !== null && Object.values(value).some((v) => hasMarkup(v as Json));

function pathOf({ op, path }: PatchOperation): string {
  if (path === undefined) throw inapplicable(`${op} operation failed to decode path: missing value`);
  return path;
}

function fromOf({ op, from }: PatchOperation): string {
  if (from === undefined) throw inapplicable(`${op} operation failed to decode from: missing value`);
  return from;
}

/** An index parsed like strconv.Atoi, within `length`; negative ones count from the end. */
function indexIn(length: number, key: string): number {
  if (!/^[+-]?\d+$/.test(key)) throw inapplicable(`value was not a proper array index: '${key}'`);
  const index = Number(key);
  const absolute = index < 0 ? index + length : index;
  if (absolute < 0 || absolute >= length) throw inapplicable(`Unable to access invalid index: ${index}`);
  return absolute;
}

function read(container: Container, key: string): Json | undefined {
  return Array.isArray(container) ? container[indexIn(container.length, key)] : getOwn(container, key);
}

function tryRead(container: Container, key: string): Json | undefined {
  if (!Array.isArray(container)) return getOwn(container, key);
  return /^[+-]?\d+$/.test(key) ? container.at(Number(key)) : undefined;
}

function replaceIn(container: Container, key: string, value: Json): void {
  if (Array.isArray(container)) container[indexIn(container.length, key)] = value;
  else setOwn(container, key, value);
}

function removeFrom(container: Container, key: string): void {
  if (Array.isArray(container)) container.splice(indexIn(container.length, key), 1);
  else if (isObject(container) && Object.hasOwn(container, key)) delete container[key];
  else throw inapplicable(`Unable to remove nonexistent key: ${key}`);
}
