// The clauses of format strings, for the formatter and for the check of literals.

/** `%%`, or a precision and a verb, or whatever follows a percent sign. */
export const CLAUSE = /%(?:%|(?:\.(\d+))?([a-zA-Z])|(.?))/gs;

/** What a verb says to an argument it cannot take. */
export const REFUSALS: Readonly<Record<string, string>> = {
  s: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  d: 'decimal clause can only be used on integers',
  f: 'fixed-point clause can only be used on doubles',
  e: 'scientific clause can only be used on doubles',
  b: 'only integers and bools can be formatted as binary',
  o: 'octal clause can only be used on integers',
  x: 'only integers, byte buffers, and strings can be formatted as hex',
  X: 'only integers, byte buffers, and strings can be formatted as hex',
};
