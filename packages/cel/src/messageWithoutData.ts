// Error messages that a status, an Event or a log may hold. Messages of the engine may quote values of the objects that
// an expression reads, and users who read the message may not be permitted to read those objects.

const LONGEST_MESSAGE = 256;

/** Words of the engine alone, or names of types and of functions, which the expression itself contains. */
const ABOUT_TYPES =
  /^(type conversion error from '[\w.]+' to '[\w.]+'|no such overload: [^\s('"]+(\([\w., ]*\))?|time: invalid location name)$/;
/** Where words of the engine end and a value may begin. */
const VALUE =
  /[:'"`(]|(?<=^(unknown time zone|unsupported index value|replacement string references group|Invalid duration|invalid substring range\. start)) /;

/** The message without values of the data; the rest of a message is kept only if the expression itself contains it. */
export function messageWithoutData(message: string, expression: string): string {
  const end = ABOUT_TYPES.test(message) ? -1 : message.search(VALUE);
  if (end < 0) return message.slice(0, LONGEST_MESSAGE);
  const head = message.slice(0, end).trimEnd();
  const tail = message.slice(end).replace(/^[:\s'"`(]+|['"`)\s]+$/g, '');
  const isKnown = tail !== '' && expression.includes(tail);
  return (isKnown ? `${head}: ${tail}` : head).slice(0, LONGEST_MESSAGE);
}
