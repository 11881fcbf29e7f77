// Merges a configuration into an object: the configuration wins, all else is kept. List items have the order of the
// configuration; items only in the object keep their position between them.

import { isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';
import { entryType, type FieldType, type ListType, type MapType, shapeOf } from './fieldType.ts';
import { itemElement } from './listItems.ts';
import type { PathElement } from './pathElement.ts';

type Value = Json | undefined;

/** Undefined when nothing is left. The result shares unchanged parts with its inputs. */
export function mergeFields(type: FieldType, left: Value, right: Value): Value {
  switch (shapeOf(type, right === undefined ? left : right)) {
    case 'scalar':
      return rightmost(left, right);
    case 'list':
      return mergeList(type.list!, left, right);
    case 'map':
      return mergeMap(type.map!, left, right);
  }
}

const rightmost = (left: Value, right: Value): Value => (right === undefined ? left : right);

function mergeMap(map: MapType, left: Value, right: Value): Value {
  const mine = isObject(left) ? left : {};
  const theirs = isObject(right) ? right : {};
  const names = new Set([...Object.keys(mine), ...Object.keys(theirs)]);
  if (map.atomic || names.size === 0) return rightmost(left, right);
  const out: JsonObject = {};
  for (const name of names) {
    const type = entryType(map, name);
    const a = Object.hasOwn(mine, name) ? mine[name] : undefined;
    const b = Object.hasOwn(theirs, name) ? theirs[name] : undefined;
    const value = type === undefined ? rightmost(a, b) : mergeFields(type, a, b);
    if (value !== undefined) setOwn(out, name, value);
  }
  return Object.keys(out).length > 0 ? out : undefined;
}

function mergeList(list: ListType, left: Value, right: Value): Value {
  const mine = Array.isArray(left) ? left : [];
  const theirs = Array.isArray(right) ? right : [];
  if (list.atomic || mine.length + theirs.length === 0) return rightmost(left, right);
  const out = new ListMerge(list, mine, theirs).run();
  return out.length > 0 ? out : undefined;
}

/** Merges two lists of keyed items. */
class ListMerge {
  readonly #list: ListType;
  readonly #mine: readonly Json[];
  readonly #lefts: readonly PathElement[];
  readonly #rights: readonly PathElement[];
  /** Items by key; a duplicate key on the left is not merged. */
  readonly #leftItems = new Map<PathElement, Json>();
  readonly #rightItems = new Map<PathElement, Json>();
  readonly #done = new Set<PathElement>();
  /** Remaining keys of both sides, in the order of the right side. */
  readonly #shared: PathElement[];
  readonly #out: Json[] = [];
  /** Positions of the next items. */
  #left = 0;
  #right = 0;

  constructor(list: ListType, mine: readonly Json[], theirs: readonly Json[]) {
    this.#list = list;
    this.#mine = mine;
    this.#lefts = mine.map((item) => itemElement(list, item));
    this.#rights = theirs.map((item) => itemElement(list, item));
    for (const [i, element] of this.#lefts.entries())
      this.#leftItems.set(element, this.#leftItems.has(element) ? null : mine[i]!);
    for (const [i, element] of this.#rights.entries()) this.#rightItems.set(element, theirs[i]!);
    this.#shared = this.#rights.filter((element) => this.#leftItems.has(element));
  }

  run(): Json[] {
    while (this.#left < this.#lefts.length || this.#right < this.#rights.length)
      this.#step(this.#lefts[this.#left], this.#rights[this.#right]);
    return this.#out;
  }

  /** Takes or skips the next item of at least one side. */
  #step(mine: PathElement | undefined, theirs: PathElement | undefined): void {
    if (mine === undefined) this.#takeRight(theirs!);
    else if (mine === theirs) {
      this.#left++;
      this.#takeRight(theirs);
    } else if (theirs !== undefined && this.#comesLater(mine)) this.#left++;
    else if (!this.#rightItems.has(mine)) {
      this.#push(this.#mine[this.#left], undefined);
      this.#left++;
    } else {
      if (this.#done.has(mine)) this.#left++;
      if (theirs !== undefined) this.#takeRight(theirs);
    }
  }

  /** On both sides, but not the next one in the order of the right side. */
  #comesLater(element: PathElement): boolean {
    return this.#rightItems.has(element) && this.#shared.length > 0 && this.#shared[0] !== element;
  }

  #takeRight(element: PathElement): void {
    this.#right++;
    this.#done.add(element);
    if (this.#shared[0] === element) this.#shared.shift();
    this.#push(this.#leftItems.get(element), this.#rightItems.get(element));
  }

  #push(left: Value, right: Value): void {
    const value = mergeFields(this.#list.element(), left, right);
    if (value !== undefined) this.#out.push(value);
  }
}
