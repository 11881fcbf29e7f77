// Removes object data from error messages, for status, Events and logs. Messages of the engine may quote values of the
// objects that an expression reads, and users who can read the message may not be permitted to read those objects.

const LONGEST_MESSAGE = 256;

/** Messages that contain only fixed text and the names of types or functions, which the expression itself contains. */
const ABOUT_TYPES =
  /^(type conversion error from '[\w.]+' to '[\w.]+'|no such overload: [^\s('"]+(\([\w., ]*\))?|time: invalid location name)$/;
/** The position where fixed text ends and a value may begin. */
const VALUE =
  /[:'"`(]|(?<=^(unknown time zone|unsupported index value|replacement string references group|Invalid duration|invalid substring range\. start)) /;

/** The message without data values. The rest of a message is kept only if the expression itself contains it. */
export function messageWithoutData(message: string, expression: string): string {
  const end = ABOUT_TYPES.test(message) ? -1 : message.search(VALUE);
  if (end < 0) return message.slice(0, LONGEST_MESSAGE);
  const head = message.slice(0, end).trimEnd();
  const tail = message.slice(end).replace(/^[:\s'"`(]+|['"`)\s]+$/g, '');
  const isKnown = tail !== '' && expression.includes(tail);
  return (isKnown ? `${head}: ${tail}` : head).slice(0, LONGEST_MESSAGE);
}
