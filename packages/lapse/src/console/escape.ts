// Escapes names from a cluster, which every user who may create objects can choose. All text in a page or SVG passes
// through this file.

// Control characters, and those that change the text direction. They are shown by their code point, so that a name
// can neither break XML nor look like another. Joiners are kept: emoji and many scripts need them.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/g;

/** Text with all characters visible, well-formed, at most `limit` characters. */
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

/** For element content and quoted attributes, in HTML and XML. */
export const escapeMarkup = (text: string): string => text.replace(/[&<>"']/g, (c) => ENTITIES[c]!);

/** JSON that cannot end a script element: no tag and no comment can start inside it. */
export const jsonForScript = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');
