// Words that comments and pages do not use, with the words to use instead. See CONTRIBUTING.md.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Pattern → what to write instead. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [
    /\b(nobody|somebody|anybody|whoever)\b/gi,
    'name the actor: the user, the caller, another controller, no client',
  ],
  [/\bunless told\b/gi, 'by default'],
  [/\bthere is none\b/gi, 'does not exist; not found; returns undefined'],
  [/\b(foresees?|foreseen|foretells?|foretold|foresight)\b/gi, 'forecast'],
  [/\bdoomed\b/gi, 'to be deleted'],
  [/\bspared\b/gi, 'kept'],
  [/\blingering\b/gi, 'stuck terminating'],
  [/\brivals?\b/gi, 'competing controller'],
  [/\bstand-ins?\b/gi, 'simulated controller'],
  [/\b(bystanders?|deeds?|opinions?|habits?|manners?)\b/gi, 'see Language in CONTRIBUTING.md'],
];

const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g;
/** Code, and the table of words itself. */
const FENCE = /^```[\s\S]*?^```$|`[^`\n]*`|^\| Do not write[\s\S]*?\n\n/gm;

function filesUnder(folder: string, ending: RegExp): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => join(folder, file))
    .filter((file) => ending.test(file) && !/node_modules|\/data\/|\/fixtures\/|\.gen\.ts$/.test(file));
}

/** What a reader reads: the comments of a source, the prose of a page. */
const proseOf = (file: string, text: string): string =>
  file.endsWith('.ts') ? (text.match(COMMENT) ?? []).join('\n') : text.replace(FENCE, '');

function findWords(file: string, text: string): string[] {
  const prose = proseOf(file, text);
  return WORDS.flatMap(([pattern, instead]) =>
    (prose.match(pattern) ?? []).map((word) => `${file}: "${word}" → ${instead}`),
  );
}

const pages = [...filesUnder('docs', /\.md$/), ...filesUnder('examples', /README\.md$/)];

test.each([
  ['sources', filesUnder('packages', /\.ts$/)],
  ['pages', ['README.md', 'CONTRIBUTING.md', ...pages, ...filesUnder('packages', /README\.md$/)]],
])('%s use the words of the field', (_, files) => {
  expect(files.flatMap((file) => findWords(file, readFileSync(join(root, file), 'utf8')))).toEqual([]);
});

test('the check finds words in comments and prose, not in code', () => {
  expect(
    findWords('x.ts', "const nobody = 1; // whoever\n/** Unless told. */ const url = 'http://rival';"),
  ).toHaveLength(2);
  expect(findWords('x.md', 'Somebody `nobody`\n```\nrival\n```\n')).toHaveLength(1);
});
