// Links of published pages: links to files that are not published become plain text.

import { dirname, join, normalize } from 'node:path';

/** `[text](target#part)`, also an image; the text may contain brackets. */
const INLINE = /!?\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s#]+)(?:#[^)\s]*)?\)/g;
const DEFINITION = /^\[([\w-]+)\]: (\S+)\n/gm;
const REFERENCE = /\[((?:[^[\]]|\[[^\]]*\])*)\]\[([\w-]+)\]/g;
/** Code has brackets, too. */
const FENCED = /^(```[\s\S]*?^```$)/m;

const isElsewhere = (target: string): boolean => /^(https?:|mailto:)/.test(target);

/** Targets of the links of this page that are not web addresses, from the root. */
export function targetsOf(page: string, text: string): string[] {
  const prose = text.split(FENCED).filter((_, at) => at % 2 === 0);
  const inline = prose.flatMap((part) => [...part.matchAll(INLINE)].map((match) => match[2]!));
  const defined = [...text.matchAll(DEFINITION)].map((match) => match[2]!.replace(/#.*/, ''));
  return [...inline, ...defined].filter((target) => !isElsewhere(target)).map((target) => from(page, target));
}

const from = (page: string, target: string): string =>
  normalize(join(dirname(page), target)).replace(/\/$/, '');

/** The page with only those links that have a target. Pure. */
export function keepLiveLinks(page: string, text: string, isThere: (path: string) => boolean): string {
  const isLive = (target: string) => isElsewhere(target) || isThere(from(page, target.replace(/#.*/, '')));
  const gone = new Set(
    [...text.matchAll(DEFINITION)].filter(([, , target]) => !isLive(target!)).map(([, name]) => name!),
  );
  const prose = (part: string) =>
    part
      .replace(INLINE, (whole, words: string, target: string) => (isLive(target) ? whole : words))
      .replace(REFERENCE, (whole, words: string, name: string) => (gone.has(name) ? words : whole))
      .replace(DEFINITION, (whole, name: string) => (gone.has(name) ? '' : whole));
  return text
    .split(FENCED)
    .map((part, at) => (at % 2 === 0 ? prose(part) : part))
    .join('');
}
