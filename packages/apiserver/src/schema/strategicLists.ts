// Merges lists: scalars as sets, maps by merge key, in the order of Kubernetes. Elements of the patch have the order
// of the patch and precede the others, except where the order of the server says otherwise.

import { getOwn, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { goPrint, goPrintText, goTypeOf } from './goPrint.ts';
import { badArgument, StrategicMergeError } from './strategicErrors.ts';
import type { FieldMeta, PatchMeta } from './strategicMeta.ts';

type MergeMaps = (original: JsonObject, patch: JsonObject, meta: PatchMeta) => JsonObject;

const PATCH = '$patch';
const MAP = 'map[string]interface {}';

const noMergeKey = (map: JsonObject, key: string): StrategicMergeError =>
  new StrategicMergeError(`map: ${goPrint(map)} does not contain declared merge key: ${key}`);

export class ListMerger {
  readonly #field: FieldMeta;
  readonly #mergeMaps: MergeMaps;

  constructor(field: FieldMeta, mergeMaps: MergeMaps) {
    this.#field = field;
    this.#mergeMaps = mergeMaps;
  }

  /** With `deleteFrom`, removes the scalars of the patch instead of adding them. */
  merge(original: Json[], patch: Json[], deleteFrom: boolean): Json[] {
    if (original.length === 0 && patch.length === 0) return original;
    if (elementType(original, patch) === MAP) return this.#mergeByKey(original, patch);
    if (deleteFrom) {
      const gone = new Set(patch);
      return original.filter((v) => !gone.has(v));
    }
    return this.order([...new Set([...original, ...patch])], patch, original);
  }

  #mergeByKey(original: Json[], patch: Json[]): Json[] {
    const key = this.#field.mergeKey;
    if (key === '')
      throw new StrategicMergeError(`cannot merge lists without merge key for ${this.#field.meta.kind}`);
    const special = this.#obeyDirectives(original as JsonObject[], patch as JsonObject[]);
    const merged = [...special.original];
    const places = new Map(merged.map((old, at) => [getOwn(old, key), at] as const).reverse());
    for (const item of special.patch) {
      const value = getOwn(item, key);
      if (value === undefined) throw noMergeKey(item, key);
      const at = places.get(value);
      if (at === undefined) places.set(value, merged.push(item) - 1);
      else merged[at] = this.#mergeMaps(merged[at]!, item, this.#field.meta);
    }
    return this.order(merged, special.patch, special.original);
  }

  /** Elements with $patch delete other elements or replace the list; they are not elements themselves. */
  #obeyDirectives(
    original: JsonObject[],
    patch: JsonObject[],
  ): { original: JsonObject[]; patch: JsonObject[] } {
    const key = this.#field.mergeKey;
    const plain: JsonObject[] = [];
    let replace = false;
    for (const item of patch) {
      const directive = getOwn(item, PATCH);
      if (directive === undefined) plain.push(item);
      else if (directive === 'replace') replace = true;
      else if (directive === 'delete') {
        const value = getOwn(item, key);
        if (value === undefined) throw noMergeKey(item, key);
        original = original.filter((old) => getOwn(old, key) !== value);
      } else if (directive === 'merge')
        throw new StrategicMergeError('merging lists cannot yet be specified in the patch');
      else
        throw new StrategicMergeError(
          `unknown patch type: ${goPrintText(directive)} in map: ${goPrint(item)}`,
        );
    }
    return replace ? { original: plain, patch: [] } : { original, patch: plain };
  }

  /**
   * Sorts `merged`: elements in `wanted` by that order, the others by the order of `server`. Then interleaves both;
   * an element of the server comes first only where it precedes in `server`.
   */
  order(merged: Json[], wanted: Json[], server: Json[]): Json[] {
    const maps = this.#field.mergeKey !== '';
    if (maps) this.#requireKeys(merged);
    const key = (item: Json): Json | undefined =>
      maps ? getOwn(item as JsonObject, this.#field.mergeKey) : item;
    const place = (list: Json[]) => new Map(list.map((v, i) => [key(v), i] as const).reverse());
    if (maps && merged.length > 0) requireMaps(wanted);
    const wantedAt = place(wanted);
    if (maps) this.#requireKeys(wanted);
    const serverAt = place(server);
    const sorted = (items: Json[], by: Map<Json | undefined, number>) =>
      items.toSorted((a, b) => (by.get(key(a)) ?? -1) - (by.get(key(b)) ?? -1));
    const right = sorted(
      merged.filter((v) => wantedAt.has(key(v))),
      wantedAt,
    );
    const left = sorted(
      merged.filter((v) => !wantedAt.has(key(v))),
      serverAt,
    );
    return weave(left, right, (item) => serverAt.get(key(item)));
  }

  #requireKeys(items: Json[]): void {
    for (const item of items) {
      if (!isObject(item)) throw badArgument(MAP, goTypeOf(item));
      if (getOwn(item, this.#field.mergeKey) === undefined) throw noMergeKey(item, this.#field.mergeKey);
    }
  }

  /** All elements of the patch must be in the wanted order. */
  checkOrder(patch: Json[], order: Json[]): void {
    if (patch.length === 0 || order.length === 0) return;
    const key = this.#field.mergeKey;
    const keyed = key === '' ? patch : patch.filter((item) => this.#asMap(item)[PATCH] !== 'delete');
    const isDirective = (item: Json): boolean => isObject(item) && Object.hasOwn(item, PATCH);
    let at = 0;
    for (let i = 0; at < keyed.length && i < order.length; ) {
      if (isDirective(keyed[at]!)) at++;
      else if (this.#sameElement(keyed[at]!, order[i++]!)) at++;
    }
    if (at < keyed.length)
      throw new StrategicMergeError(
        `The order in patch list:\n${goPrint(patch)}\n doesn't match $setElementOrder list:\n${goPrint(order)}\n`,
      );
  }

  #asMap(item: Json): JsonObject {
    if (!isObject(item)) throw badArgument(MAP, goTypeOf(item));
    return item;
  }

  #sameElement(left: Json, right: Json): boolean {
    const key = this.#field.mergeKey;
    if (key === '') return left === right;
    const values = [left, right].map((item) => {
      const value = getOwn(this.#asMap(item), key);
      if (value === undefined) throw noMergeKey(item as JsonObject, key);
      return value;
    });
    return values[0] === values[1];
  }
}

function requireMaps(items: Json[]): void {
  const odd = items.findIndex((item) => !isObject(item));
  if (odd >= 0) throw new StrategicMergeError(`value for key ${odd} is not a map`);
}

function weave(left: Json[], right: Json[], at: (item: Json) => number | undefined): Json[] {
  const out: Json[] = [];
  let i = 0;
  let j = 0;
  while (i < left.length && j < right.length) {
    const l = at(left[i]!);
    const r = at(right[j]!);
    out.push(l !== undefined && r !== undefined && l < r ? left[i++]! : right[j++]!);
  }
  return [...out, ...left.slice(i), ...right.slice(j)];
}

/** The common Go type of all elements. */
export function elementType(...lists: Json[][]): string {
  let type: string | undefined;
  for (const item of lists.flat()) {
    const own = goTypeOf(item);
    if (type === undefined) {
      if (own === '[]interface {}')
        throw new StrategicMergeError('lists of lists are not supported', 'unprocessable');
      type = own;
    } else if (own !== type)
      throw new StrategicMergeError(`list element types are not identical: ${goPrint(lists)}`);
  }
  if (type === undefined) throw new StrategicMergeError('no elements in any of the given slices');
  return type;
}
