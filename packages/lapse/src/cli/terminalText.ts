// Escapes text from a cluster for a terminal. Users of the cluster choose names, messages and values. They must not
// control the terminal of the reader: no cursor movement, no hidden or reordered text.

/** Styles that Lapse itself uses: bold, dim, italic, underline, colours, and their ends. */
const OWN_STYLE = String.raw`\u001b\[(?:0|1|2|3|4|22|23|24|3[0-7]|39|9[0-7])m`;
/** Control characters except tab and line feed, those that change the text direction, and noncharacters. */
const UNSEEN = String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]`;
const STEERING = new RegExp(`${OWN_STYLE}|${UNSEEN}`, 'g');

/**
 * The text with every terminal control character written as in JSON (`\u001b`): readable as text, and the same
 * value in a JSON document. Line feeds, tabs and styles are kept.
 */
export const terminalText = (text: string): string =>
  text.replace(STEERING, (found) =>
    found.length > 1 ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
