// Cuts a YAML document of a manifest down to the fields that say which object it is. Charts contain documents of a
// megabyte (a CustomResourceDefinition), of which a dozen lines are needed; parsing all of it takes seconds.

const WANTED = new Set(['apiVersion', 'kind', 'metadata', 'items']);
const KEY = /^([A-Za-z][A-Za-z0-9]*):(?=[ \t\r]|$)/;
/** Lines that belong to the field before them: deeper ones, items of a list, comments, empty ones. */
const CONTINUES = /^(?:[ #\r]|-(?=[ \r]|$)|$)/;

/**
 * The document without its other fields; undefined when its outermost map is not written line by line in plain keys
 * (JSON, quoted keys, tags, several documents), and so cannot be cut safely.
 */
export function skimDocument(document: string): string | undefined {
  const kept: string[] = [];
  let isWanted = false;
  let hasKind = false;
  for (const line of document.split('\n')) {
    const key = KEY.exec(line)?.[1];
    if (key !== undefined) {
      isWanted = WANTED.has(key);
      hasKind ||= key === 'kind';
    } else if (!CONTINUES.test(line)) return undefined;
    if (isWanted) kept.push(line);
  }
  return hasKind ? `${kept.join('\n')}\n` : undefined;
}
