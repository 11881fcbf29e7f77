// Cuts a YAML document of a manifest down to the fields that identify the object. A chart may contain documents of a
// megabyte (a CustomResourceDefinition) of which a dozen lines are needed; parsing the whole document takes seconds.

const WANTED = new Set(['apiVersion', 'kind', 'metadata', 'items']);
const SPACE = 0x20;
const KEY = /^([A-Za-z][A-Za-z0-9]*):(?=\s|$)/;
/** Lines that continue the previous field: indented lines, list items, comments, empty lines. */
const CONTINUES = /^(?:[ #\r\n]|-(?=\s|$)|$)/;

/**
 * The document without its other fields; undefined if it cannot be cut safely because its top-level map is not in block
 * style with plain keys (JSON, quoted keys, tags, several documents).
 */
export function skimDocument(document: string): string | undefined {
  const kept: string[] = [];
  let isWanted = false;
  let hasKind = false;
  for (let start = 0, end = 0; start < document.length; start = end) {
    end = fieldEnd(document, start);
    const line = document.slice(start, lineEnd(document, start));
    const key = KEY.exec(line)?.[1];
    if (key === undefined && !CONTINUES.test(line)) return undefined;
    if (key !== undefined) isWanted = WANTED.has(key);
    hasKind ||= key === 'kind';
    if (isWanted) kept.push(document.slice(start, end));
  }
  return hasKind ? kept.join('') : undefined;
}

/** The position after the line at `from` and the indented lines that follow it. */
function fieldEnd(document: string, from: number): number {
  let at = lineEnd(document, from);
  while (document.charCodeAt(at) === SPACE) at = lineEnd(document, at);
  return at;
}

function lineEnd(document: string, from: number): number {
  const found = document.indexOf('\n', from);
  return found < 0 ? document.length : found + 1;
}
