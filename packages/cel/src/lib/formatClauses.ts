// The clauses of format strings, shared by the formatter and the check of literals.

/** `%%`, or a precision and a verb, or any character after a percent sign. */
export const CLAUSE = /%(?:%|(?:\.(\d+))?([a-zA-Z])|(.?))/gs;

/** The error of each verb for an argument of the wrong type. */
export const ARGUMENT_ERRORS: Readonly<Record<string, string>> = {
  s: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  d: 'decimal clause can only be used on integers',
  f: 'fixed-point clause can only be used on doubles',
  e: 'scientific clause can only be used on doubles',
  b: 'only integers and bools can be formatted as binary',
  o: 'octal clause can only be used on integers',
  x: 'only integers, byte buffers, and strings can be formatted as hex',
  X: 'only integers, byte buffers, and strings can be formatted as hex',
};
