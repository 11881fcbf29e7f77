// The error messages of Go's encoding/json. Clients see them inside Status messages, so they are identical, including
// errors that result from Go feeding a space to its state machine when the input ends too early.

/** The text is not JSON, or is nested too deeply. The message equals that of Go's decoder. */
export class JsonSyntaxError extends Error {
  /** Index into the text (UTF-16 units) of the invalid character. */
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.name = 'JsonSyntaxError';
    this.offset = offset;
  }
}

/** A number that is valid JSON but overflows float64. Go reports it as a type error. */
export class JsonRangeError extends Error {
  constructor(literal: string) {
    super(`json: cannot unmarshal number ${literal} into Go value of type float64`);
    this.name = 'JsonRangeError';
  }
}

const ESCAPES: Record<number, string> = {
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
  39: "\\'",
  92: '\\\\',
};

/** The first UTF-8 byte of the character at `index`. Go's scanner reports bytes, not characters. */
function firstByte(text: string, index: number): number {
  const code = text.codePointAt(index) ?? 32;
  if (code < 0x80) return code;
  if (code < 0x800) return 0xc0 | (code >> 6);
  if (code < 0x10000) return 0xe0 | (code >> 12);
  return 0xf0 | (code >> 18);
}

/** A byte as Go quotes it: `'x'`, `'\n'`, `'\x00'`, `'ï'` for the first byte of a byte-order mark. */
function quoteByte(byte: number): string {
  const escaped = ESCAPES[byte];
  if (escaped !== undefined) return `'${escaped}'`;
  if (byte < 0x20 || byte === 0x7f) return `'\\x${byte.toString(16).padStart(2, '0')}'`;
  if ((byte >= 0x80 && byte < 0xa1) || byte === 0xad) return `'\\u${byte.toString(16).padStart(4, '0')}'`;
  return `'${String.fromCharCode(byte)}'`;
}

export const unexpectedEnd = (offset: number): JsonSyntaxError =>
  new JsonSyntaxError('unexpected end of JSON input', offset);

/** `invalid character 'x' after object key`, for the character at `index`. */
export function invalidCharacter(text: string, index: number, where: string): JsonSyntaxError {
  return new JsonSyntaxError(`invalid character ${quoteByte(firstByte(text, index))} ${where}`, index);
}

/**
 * Like invalidCharacter, inside a literal. At the end of the input Go steps its scanner once more with a space:
 * literals report the space, everything else reports an unexpected end.
 */
export function invalidInLiteral(text: string, index: number, where: string): JsonSyntaxError {
  if (index >= text.length) return new JsonSyntaxError(`invalid character ' ' ${where}`, index);
  return invalidCharacter(text, index, where);
}

/** Runs `parse` and rethrows its errors with the original byte: an invalid UTF-8 byte is U+FFFD in the text. */
export function rethrow<T>(bytes: Uint8Array, text: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    if (!(cause instanceof JsonSyntaxError) || text[cause.offset] !== '\ufffd') throw cause;
    let at = 0;
    for (const letter of text.slice(0, cause.offset))
      at += letter === '\ufffd' && !isEncoded(bytes, at) ? 1 : Buffer.byteLength(letter);
    throw new JsonSyntaxError(
      cause.message.replace("'ï'", () => quoteByte(bytes[at]!)),
      cause.offset,
    );
  }
}

/** Whether the bytes contain a valid U+FFFD here. */
const isEncoded = (bytes: Uint8Array, at: number): boolean =>
  bytes[at] === 0xef && bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd;
