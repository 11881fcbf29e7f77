// Caches results for pairs of immutable values for as long as both live. Writes of the same form share differences
// and field sets (compareFields.ts, managedFields.ts), so most lookups hit.

export function remember<A extends object, B extends object, R>(
  answer: (a: A, b: B) => R,
): (a: A, b: B) => R {
  const known = new WeakMap<A, WeakMap<B, { readonly value: R }>>();
  return (a, b) => {
    let answers = known.get(a);
    if (answers === undefined) {
      answers = new WeakMap();
      known.set(a, answers);
    }
    let found = answers.get(b);
    if (found === undefined) {
      found = { value: answer(a, b) };
      answers.set(b, found);
    }
    return found.value;
  };
}
