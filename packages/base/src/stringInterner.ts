// String interning: one copy of strings that many objects share (namespaces, kinds, finalizers). Every parsed object
// brings its own copy.

/** The result returns the first copy of an equal string, if it is among about the last `most` different ones. */
export function stringInterner(most = 10_000): (text: string) => string {
  const shared = new Map<string, string>();
  return (text) => {
    const known = shared.get(text);
    if (known !== undefined) return known;
    if (shared.size >= most) shared.clear();
    shared.set(text, text);
    return text;
  };
}
