// Text of a cluster on its way to a terminal. Names, messages and values are chosen by users of the cluster, who must not
// steer the terminal of the user who reads them: no cursor movement, no hidden or reordered text.

/** Styles that Lapse itself uses: bold, dim, italic, underline, colours, and their ends. */
const OWN_STYLE = String.raw`\u001b\[(?:0|1|2|3|4|22|23|24|3[0-7]|39|9[0-7])m`;
/** Control characters but tab and line feed, and those that turn the direction of text or are not characters at all. */
const UNSEEN = String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]`;
const STEERING = new RegExp(`${OWN_STYLE}|${UNSEEN}`, 'g');

/**
 * The text with every character that steers a terminal written as JSON writes it (`\u001b`): readable in a text, and the
 * same value in a JSON document. Lines, tabs and styles stay.
 */
export const terminalText = (text: string): string =>
  text.replace(STEERING, (found) =>
    found.length > 1 ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
