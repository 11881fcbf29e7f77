// Answers about pairs of values that never change, kept for as long as both live. Differences and field sets are shared
// by all writes of the same form (compareFields.ts, managedFields.ts), so most questions were asked before.

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
