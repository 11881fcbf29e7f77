// The structure of the documentation: docs/README.md lists every page in the section of its folder, and every relative
// link of a page leads to a file and to a heading in it.

import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const INDEX = 'docs/README.md';

/** Sections of the index, in order, and the pages that belong to each. */
const SECTIONS: Readonly<Record<string, RegExp>> = {
  'Getting started': /^docs\/getting-started\.md$/,
  Concepts: /^docs\/concepts\//,
  Tasks: /^docs\/tasks\//,
  Reference: /^docs\/reference\//,
  Operations: /^docs\/operations\//,
  Troubleshooting: /^docs\/troubleshooting\.md$/,
  'Known limitations': /^docs\/known-limitations\.md$/,
  'Design decisions': /^docs\/adr\//,
};

const read = (page: string): string => readFileSync(join(root, page), 'utf8');
const proseOf = (text: string): string => text.replace(/^```[\s\S]*?^```$/gm, '');

interface Link {
  readonly target: string;
  /** Without `#`; empty for a link to the whole page. */
  readonly anchor: string;
}

/** The relative links of a page, with targets from the root. */
function linksOf(page: string, text: string): Link[] {
  const prose = proseOf(text);
  const found = [
    ...prose.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g),
    ...prose.matchAll(/^\[[\w-]+\]: (?!https?:|mailto:)(\S+)/gm),
  ];
  return found.map((match) => {
    const [path = '', anchor = ''] = match[1]!.split('#');
    return { target: path === '' ? page : normalize(join(dirname(page), path)).replace(/\/$/, ''), anchor };
  });
}

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of proseOf(text).matchAll(/^#+ (.*)$/gm)) {
    const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = words.replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-');
    let anchor = slug;
    for (let i = 1; anchors.has(anchor); i++) anchor = `${slug}-${i}`;
    anchors.add(anchor);
  }
  return anchors;
}

function isBroken({ target, anchor }: Link): boolean {
  if (!existsSync(join(root, target))) return true;
  return anchor !== '' && target.endsWith('.md') && !anchorsOf(read(target)).has(anchor);
}

/** A link to a folder leads to its pages. */
const pagesAt = (target: string): string[] =>
  statSync(join(root, target)).isDirectory() ? globSync(`${target}/*.md`, { cwd: root }) : [target];

const markdown = globSync('**/*.md', {
  cwd: root,
  exclude: (name) => /(^|\/)(node_modules|\.git|dist|\.lapse|fixtures)$/.test(name),
});
const sections = read(INDEX)
  .split(/^## /m)
  .slice(1)
  .map((text) => ({ title: text.split('\n')[0]!, links: linksOf(INDEX, text) }));

test.each(markdown)('%s: every relative link leads to a file, and to a heading in it', (page) => {
  const broken = linksOf(page, read(page)).filter(isBroken);
  expect(broken).toEqual([]);
});

describe('docs/README.md', () => {
  test('has the sections of the documentation, in order', () => {
    expect(sections.map(({ title }) => title)).toEqual(Object.keys(SECTIONS));
  });

  test('lists every page once, in the section of its folder', () => {
    const listed = sections.flatMap(({ title, links }) =>
      links
        .flatMap(({ target }) => pagesAt(target))
        .filter((page) => page.startsWith('docs/'))
        .map((page) => ({ title, page })),
    );
    const pages = globSync('docs/**/*.md', { cwd: root }).filter((page) => page !== INDEX);
    expect(listed.map(({ page }) => page).sort()).toEqual(pages.sort());
    expect(listed.filter(({ title, page }) => !SECTIONS[title]!.test(page))).toEqual([]);
  });

  test('is linked from the README', () => {
    expect(linksOf('README.md', read('README.md')).map(({ target }) => target)).toContain(INDEX);
  });
});

test('the check finds a missing file and a missing heading', () => {
  const text =
    '[a](missing.md) [b](README.md#no-such-heading) [c](README.md#getting-started)\n```\n[d](x.md)\n```\n';
  const broken = linksOf('docs/page.md', text).filter(isBroken);
  expect(broken.map(({ target }) => target)).toEqual(['docs/missing.md', INDEX]);
});

test('repeated headings get numbered anchors, and code in headings counts', () => {
  const anchors = anchorsOf('# A `lapse plan`: x\n## Same\n## Same\n```\n# not a heading\n```\n');
  expect([...anchors]).toEqual(['a-lapse-plan-x', 'same', 'same-1']);
});
