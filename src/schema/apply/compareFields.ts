// What one object has that the other has not, and what differs, as sets of paths.

import { equal, isObject, type Json, type JsonObject } from '#api/json';
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

export function compareFields(type: FieldType, left: Value, right: Value): Comparison {
  const walker = new Walker();
  walker.compare([], type, left, right);
  return walker.result();
}

class Walker {
  readonly #added = new FieldSetBuilder();
  readonly #modified = new FieldSetBuilder();
  readonly #removed = new FieldSetBuilder();

  result(): Comparison {
    return { added: this.#added.build(), modified: this.#modified.build(), removed: this.#removed.build() };
  }

  compare(path: PathElement[], type: FieldType, left: Value, right: Value): void {
    if (left === undefined && right === undefined) return;
    const shapes = new Set<Shape>();
    if (left !== undefined) shapes.add(shapeOf(type, left));
    if (right !== undefined) shapes.add(shapeOf(type, right));
    let leaf = false;
    for (const shape of shapes) leaf = this.#shape(path, type, shape, [left, right]) || leaf;
    if (leaf) return;
    if (left === undefined) this.#added.insert(path);
    else if (right === undefined) this.#removed.insert(path);
  }

  /** True when the value was one thing. */
  #shape(path: PathElement[], type: FieldType, shape: Shape, [left, right]: [Value, Value]): boolean {
    switch (shape) {
      case 'scalar':
        return this.#leaf(path, left, right);
      case 'list':
        return this.#list(path, type.list!, left, right);
      case 'map':
        return this.#map(path, type.map!, left, right);
    }
  }

  #leaf(path: PathElement[], left: Value, right: Value): true {
    if (left === undefined) this.#added.insert(path);
    else if (right === undefined) this.#removed.insert(path);
    else if (!equal(left, right)) this.#modified.insert(path);
    return true;
  }

  #map(path: PathElement[], map: MapType, left: Value, right: Value): boolean {
    const mine = isObject(left) ? left : {};
    const theirs = isObject(right) ? right : {};
    const names = new Set([...namesOf(mine), ...namesOf(theirs)]);
    if (map.atomic || names.size === 0) return this.#leaf(path, left, right);
    for (const name of names) {
      const type = entryType(map, name);
      if (type === undefined) continue;
      path.push(fieldElement(name));
      this.compare(path, type, own(mine, name), own(theirs, name));
      path.pop();
    }
    return false;
  }

  #list(path: PathElement[], list: ListType, left: Value, right: Value): boolean {
    const mine = Array.isArray(left) ? left : [];
    const theirs = Array.isArray(right) ? right : [];
    if (list.atomic || mine.length + theirs.length === 0) return this.#leaf(path, left, right);
    const lefts = grouped(list, mine);
    const rights = grouped(list, theirs);
    for (const element of new Set([...lefts.keys(), ...rights.keys()])) {
      path.push(element);
      this.#items(path, list, lefts.get(element) ?? [], rights.get(element) ?? []);
      path.pop();
    }
    return false;
  }

  /** Items of one key. More than one on a side are compared as a whole. */
  #items(path: PathElement[], list: ListType, lefts: readonly Json[], rights: readonly Json[]): void {
    const type = list.element();
    if (lefts.length <= 1 && rights.length <= 1) this.compare(path, type, lefts[0], rights[0]);
    else if (lefts.length >= 2 && rights.length >= 2) {
      if (!equal([...lefts], [...rights])) this.#modified.insert(path);
    } else if (lefts.length >= 2) {
      this.compare(path, type, undefined, rights[0]);
      this.#removed.insert(path);
    } else {
      this.compare(path, type, lefts[0], undefined);
      this.#added.insert(path);
    }
  }
}

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

const namesOf = (object: JsonObject): string[] =>
  Object.keys(object).filter((name) => object[name] !== undefined);

const own = (object: JsonObject, name: string): Value =>
  Object.hasOwn(object, name) ? object[name] : undefined;
