// Changes inputs at random: pieces are removed, doubled, swapped, cut, and replaced by pieces that often break readers.

import type { Random } from '@lapse/base/random';

export const pick = <T>(from: readonly T[], random: Random): T =>
  from[Math.floor(random.next() * from.length)]!;

const NASTY = [
  '{',
  '[',
  '"',
  "'",
  '\\',
  '\0',
  '&a ',
  '*a',
  '\n',
  '- ',
  ': ',
  '---\n',
  '\u{1f600}',
  '\ud800',
  '1e999',
  '__proto__',
];
const MOST_CHANGES = 6;
const MOST_REPEATS = 2000;

type Change = (text: string, from: number, to: number, random: Random) => string;

const CHANGES: readonly Change[] = [
  (text, from, to) => text.slice(0, from) + text.slice(to),
  (text, from, to) => text.slice(0, to) + text.slice(from),
  (text, from) => text.slice(0, from),
  (text, from, _, random) => text.slice(0, from) + pick(NASTY, random) + text.slice(from),
  (text, from, to, random) => text.slice(0, from) + pick(NASTY, random) + text.slice(to),
  (text, from, _, random) =>
    text.slice(0, from) + pick(NASTY, random).repeat(1 + random.next() * MOST_REPEATS) + text.slice(from),
  (text, from, to, random) => {
    const at = Math.floor(random.next() * text.length);
    return text.slice(0, at) + text.slice(from, to) + text.slice(at);
  },
];

export function changedText(text: string, random: Random): string {
  let changed = text;
  for (let i = Math.floor(random.next() * MOST_CHANGES); i > 0; i--) {
    const from = Math.floor(random.next() * changed.length);
    const to = Math.min(changed.length, from + Math.floor(random.next() * 40));
    changed = pick(CHANGES, random)(changed, from, to, random);
  }
  return changed;
}

/** The same for bytes: each byte is a character of the same code. */
export function changedBytes(bytes: Uint8Array, random: Random): Uint8Array {
  const changed = Buffer.from(changedText(Buffer.from(bytes).toString('latin1'), random), 'latin1');
  for (let i = Math.floor(random.next() * MOST_CHANGES); i > 0 && changed.length > 0; i--)
    changed[Math.floor(random.next() * changed.length)] = Math.floor(random.next() * 256);
  return changed;
}
