// Names come from a cluster, and anybody who may create objects chooses them. Everything that enters a page or a picture
// goes through here.

// Control characters, and those that turn the direction of the text that follows: shown by their number, so that a name
// can neither break XML nor pretend to be another. Joiners stay: emoji and many scripts need them.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/g;

/** Text that shows all it is made of, well-formed, at most `limit` characters. */
export function plainText(text: string, limit = 2000): string {
  const cut = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return cut
    .toWellFormed()
    .replace(UNSEEN, (c) =>
      c === '\n' || c === '\t' ? ' ' : `⟨${c.charCodeAt(0).toString(16).padStart(4, '0')}⟩`,
    );
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** For element content and quoted attributes, of HTML and of XML. */
export const escapeMarkup = (text: string): string => text.replace(/[&<>"']/g, (c) => ENTITIES[c]!);

/** JSON that cannot leave a script element: no tag and no comment can start inside it. */
export const jsonForScript = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');
