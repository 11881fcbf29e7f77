// The paths that one object has and the other does not, and those that differ, as field sets. Objects of one kind and
// manager often differ in the same paths, so the sets of a difference are cached by its text.

import { equal, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { type FieldSet, FieldSetBuilder } from './fieldSet.ts';
import { entryType, type FieldType, type ListType, type MapType, type Shape, shapeOf } from './fieldType.ts';
import { ItemError, itemElement } from './listItems.ts';
import { fieldElement, type PathElement } from './pathElement.ts';

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

type Value = Json | undefined;
type Mark = '+' | '~' | '-';
/** Called for each path that differs; `path` is reused and changes after the call. */
type Sink = (mark: Mark, path: readonly PathElement[]) => void;

const cache = new Map<string, Comparison>();
const MAX_CACHED = 300;
const MAX_CACHED_LENGTH = 8192;

/**
 * Returns the identical Comparison for objects that differ in the same paths, so that callers can cache results for
 * it.
 */
export function compareFields(type: FieldType, left: Value, right: Value): Comparison {
  const signature = new Signature();
  new Walker((mark, path) => signature.add(mark, path)).compare(type, left, right);
  const { text } = signature;
  const found = cache.get(text);
  if (found !== undefined) return found;
  const comparison = collect(type, left, right);
  if (text.length > MAX_CACHED_LENGTH) return comparison;
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(text, comparison);
  return comparison;
}

function collect(type: FieldType, left: Value, right: Value): Comparison {
  const builders = { '+': new FieldSetBuilder(), '~': new FieldSetBuilder(), '-': new FieldSetBuilder() };
  new Walker((mark, path) => builders[mark].insert(path)).compare(type, left, right);
  return { added: builders['+'].build(), modified: builders['~'].build(), removed: builders['-'].build() };
}

/** The differences in order as text. Steps are prefixed with their length, since they may contain any character. */
class Signature {
  text = '';
  readonly #last: PathElement[] = [];

  add(mark: Mark, path: readonly PathElement[]): void {
    const last = this.#last;
    let shared = 0;
    while (shared < path.length && shared < last.length && last[shared] === path[shared]) shared++;
    let text = mark + shared;
    last.length = shared;
    for (let i = shared; i < path.length; i++) {
      const element = path[i]!;
      text += `,${element.length}:${element}`;
      last.push(element);
    }
    this.text += text;
  }
}

class Walker {
  readonly #sink: Sink;
  readonly #path: PathElement[] = [];

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  compare(type: FieldType, left: Value, right: Value): void {
    if (left === undefined && right === undefined) return;
    const first = shapeOf(type, left === undefined ? right : left);
    const second = left === undefined || right === undefined ? first : shapeOf(type, right);
    let leaf = this.#shape(type, first, left, right);
    if (second !== first) leaf = this.#shape(type, second, left, right) || leaf;
    if (leaf) return;
    if (left === undefined) this.#sink('+', this.#path);
    else if (right === undefined) this.#sink('-', this.#path);
  }

  /** True when the value is atomic. */
  #shape(type: FieldType, shape: Shape, left: Value, right: Value): boolean {
    switch (shape) {
      case 'scalar':
        return this.#leaf(left, right);
      case 'list':
        return this.#list(type.list!, left, right);
      case 'map':
        return this.#map(type.map!, left, right);
    }
  }

  #leaf(left: Value, right: Value): true {
    if (left === undefined) this.#sink('+', this.#path);
    else if (right === undefined) this.#sink('-', this.#path);
    else if (!equal(left, right)) this.#sink('~', this.#path);
    return true;
  }

  #map(map: MapType, left: Value, right: Value): boolean {
    const mine = isObject(left) ? left : NOTHING;
    const theirs = isObject(right) ? right : NOTHING;
    if (map.atomic || (isBare(mine) && isBare(theirs))) return this.#leaf(left, right);
    for (const name in mine) {
      const value = own(mine, name);
      const other = own(theirs, name);
      if (value !== undefined || other !== undefined) this.#entry(map, name, value, other);
    }
    for (const name in theirs) {
      if (!Object.hasOwn(mine, name)) this.#entry(map, name, undefined, own(theirs, name));
    }
    return false;
  }

  #entry(map: MapType, name: string, left: Value, right: Value): void {
    const type = entryType(map, name);
    if (type === undefined) return;
    this.#path.push(fieldElement(name));
    this.compare(type, left, right);
    this.#path.pop();
  }

  #list(list: ListType, left: Value, right: Value): boolean {
    const mine = Array.isArray(left) ? left : [];
    const theirs = Array.isArray(right) ? right : [];
    if (list.atomic || mine.length + theirs.length === 0) return this.#leaf(left, right);
    const lefts = grouped(list, mine);
    const rights = grouped(list, theirs);
    for (const [element, items] of lefts) this.#items(element, list, items, rights.get(element) ?? []);
    for (const [element, items] of rights) if (!lefts.has(element)) this.#items(element, list, [], items);
    return false;
  }

  /** Compares items with the same key. Several items on one side are compared as a whole. */
  #items(element: PathElement, list: ListType, lefts: readonly Json[], rights: readonly Json[]): void {
    const type = list.element();
    this.#path.push(element);
    if (lefts.length <= 1 && rights.length <= 1) this.compare(type, lefts[0], rights[0]);
    else if (lefts.length >= 2 && rights.length >= 2) {
      if (!equal([...lefts], [...rights])) this.#sink('~', this.#path);
    } else if (lefts.length >= 2) {
      this.compare(type, undefined, rights[0]);
      this.#sink('-', this.#path);
    } else {
      this.compare(type, lefts[0], undefined);
      this.#sink('+', this.#path);
    }
    this.#path.pop();
  }
}

const NOTHING: JsonObject = Object.freeze({});

function grouped(list: ListType, items: readonly Json[]): Map<PathElement, Json[]> {
  const out = new Map<PathElement, Json[]>();
  for (const item of items) {
    const element = elementOrNone(list, item);
    if (element === undefined) continue;
    const group = out.get(element);
    if (group === undefined) out.set(element, [item]);
    else group.push(item);
  }
  return out;
}

function elementOrNone(list: ListType, item: Json): PathElement | undefined {
  try {
    return itemElement(list, item);
  } catch (cause) {
    if (cause instanceof ItemError) return undefined;
    throw cause;
  }
}

const isBare = (object: JsonObject): boolean => {
  for (const name in object) if (own(object, name) !== undefined) return false;
  return true;
};

const own = (object: JsonObject, name: string): Value =>
  Object.hasOwn(object, name) ? object[name] : undefined;
