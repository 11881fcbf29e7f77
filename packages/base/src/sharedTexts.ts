// Texts that many objects have in common (namespaces, kinds, finalizers): every parsed object brings a copy of its own,
// and one is enough.

/** Answers the same text, the first copy of it, as long as it is among the last `most` different ones or so. */
export function sharedTexts(most = 10_000): (text: string) => string {
  const shared = new Map<string, string>();
  return (text) => {
    const known = shared.get(text);
    if (known !== undefined) return known;
    if (shared.size >= most) shared.clear();
    shared.set(text, text);
    return text;
  };
}
