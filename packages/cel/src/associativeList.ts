// Lists that a Kubernetes schema declares as `set` or `map`: equality ignores order, and `+` merges.

import type { ListSemantics } from './types.ts';
import type { Value } from './values.ts';

type Same = (a: Value, b: Value) => boolean;

/** An array with its list type. All list functions treat it as an ordinary array. */
export class AssociativeList extends Array<Value> {
  // Set after construction, because the Array constructor takes a length.
  private listRule!: ListSemantics;

  static override get [Symbol.species]() {
    return Array;
  }

  static withRule(elements: readonly Value[], rule: ListSemantics): AssociativeList {
    const list = new AssociativeList();
    for (const e of elements) list.push(e);
    Object.defineProperty(list, 'listRule', { value: rule, enumerable: false });
    return list;
  }

  get rule(): ListSemantics {
    return this.listRule;
  }

  equalTo(other: readonly Value[], same: Same): boolean {
    if (this.length !== other.length) return false;
    const left = [...other];
    return this.every((v) => {
      const at = left.findIndex((o) => this.#sameElement(v, o, same));
      if (at < 0) return false;
      const [found] = left.splice(at, 1);
      return same(v, found!);
    });
  }

  /** The union: elements of `other` replace those with the same key, new elements are appended. */
  merge(other: readonly Value[], same: Same): AssociativeList {
    const merged = [...this];
    for (const v of other) {
      const at = merged.findIndex((m) => this.#sameElement(m, v, same));
      if (at < 0) merged.push(v);
      else merged[at] = v;
    }
    return AssociativeList.withRule(merged, this.rule);
  }

  #sameElement(a: Value, b: Value, same: Same): boolean {
    const rule = this.rule;
    if (rule.kind === 'set') return same(a, b);
    return rule.keys.every((k) => same(property(a, k), property(b, k)));
  }
}

function property(v: Value, key: string): Value {
  if (typeof v !== 'object' || v === null || !Object.hasOwn(v, key)) return null;
  return (v as { readonly [key: string]: Value | undefined })[key] ?? null;
}
