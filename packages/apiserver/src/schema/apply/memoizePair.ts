// Caches results for pairs of immutable values for as long as both live. Writes of the same form share differences
// and field sets (compareFields.ts, managedFields.ts), so most lookups hit.

export function memoizePair<A extends object, B extends object, R>(
  compute: (a: A, b: B) => R,
): (a: A, b: B) => R {
  const known = new WeakMap<A, WeakMap<B, { readonly value: R }>>();
  return (a, b) => {
    let results = known.get(a);
    if (results === undefined) {
      results = new WeakMap();
      known.set(a, results);
    }
    let found = results.get(b);
    if (found === undefined) {
      found = { value: compute(a, b) };
      results.set(b, found);
    }
    return found.value;
  };
}
