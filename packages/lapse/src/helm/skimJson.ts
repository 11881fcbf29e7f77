// Finds the fields of a JSON object without parsing their values: a release contains its whole chart, which is not
// needed here.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST] = [0x7b, 0x7d, 0x5b];
const [COMMA, COLON] = [0x2c, 0x3a];
const LONGEST_NAME = 100;

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/**
 * The fields of an object by name, with their values as JSON text. The last of duplicate names wins. Undefined if this
 * is not an object. Values are not validated: the caller parses the ones it needs.
 */
export function skimFields(bytes: Uint8Array): ReadonlyMap<string, Uint8Array> | undefined {
  const fields = new Map<string, Uint8Array>();
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_OBJECT) return undefined;
  at = skipSpace(bytes, at + 1);
  while (bytes[at] === QUOTE) {
    const nameEnd = skipString(bytes, at);
    const name = nameEnd - at <= LONGEST_NAME ? parseName(bytes.subarray(at, nameEnd)) : '';
    at = skipSpace(bytes, nameEnd);
    if (name === undefined || bytes[at] !== COLON) return undefined;
    const start = skipSpace(bytes, at + 1);
    const end = skipValue(bytes, start);
    fields.set(name, bytes.subarray(start, end));
    at = skipSpace(bytes, end);
    if (bytes[at] !== COMMA) break;
    at = skipSpace(bytes, at + 1);
  }
  if (bytes[at] !== CLOSE_OBJECT) return undefined;
  return skipSpace(bytes, at + 1) === bytes.length ? fields : undefined;
}

function parseName(bytes: Uint8Array): string | undefined {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8')) as string;
  } catch {
    return undefined;
  }
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at++;
  return at;
}

/** The position after the closing quote of the string at `from`. */
function skipString(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(QUOTE, from + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let escapes = at;
    while (bytes[escapes - 1] === BACKSLASH) escapes--;
    if ((at - escapes) % 2 === 0) return at + 1;
  }
  return bytes.length;
}

function skipValue(bytes: Uint8Array, from: number): number {
  const first = bytes[from];
  if (first === QUOTE) return skipString(bytes, from);
  if (first === OPEN_OBJECT || first === OPEN_LIST) return skipNested(bytes, from);
  let at = from;
  while (at < bytes.length && bytes[at] !== COMMA && bytes[at] !== CLOSE_OBJECT && !isSpace(bytes[at])) at++;
  return at;
}

/** The position after the bracket that closes the one at `from`. */
function skipNested(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  let [at, depth] = [from, 0];
  while (at < length) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      at = skipString(bytes, at);
      continue;
    }
    at++;
    // The brackets of lists and objects differ in one bit.
    const bracket = byte | 0x20;
    if (bracket === OPEN_OBJECT) depth++;
    else if (bracket === CLOSE_OBJECT && --depth === 0) return at;
  }
  return at;
}
