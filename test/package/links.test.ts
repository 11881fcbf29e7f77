import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keepLiveLinks, targetsOf } from '../../scripts/links.ts';
import { isShipped, pagesShipped, publishedPage } from '../../scripts/package.ts';

const root = join(import.meta.dirname, '../..');
const there = (path: string) => ['docs/a.md', 'docs', 'README.md'].includes(path);

test.each([
  ['one that leads somewhere stays', '[a](a.md), [b](a.md#part)', '[a](a.md), [b](a.md#part)'],
  ['one that does not is its text', 'see [the code](../src/a.ts#x).', 'see the code.'],
  ['code in it stays code', '[`a.ts`](../src/a.ts)', '`a.ts`'],
  ['a folder that is shipped', '[docs](../docs)', '[docs](../docs)'],
  [
    'the web stays',
    '[w](https://example.com/a), [m](mailto:a@b)',
    '[w](https://example.com/a), [m](mailto:a@b)',
  ],
  ['a part of the same page stays', '[p](#part)', '[p](#part)'],
  ['a picture is what it shows', '![a timeline](p.svg)', 'a timeline'],
  [
    'a reference, and its definition',
    '[x][one] [y][two]\n\n[one]: ../src\n[two]: a.md\n',
    'x [y][two]\n\n[two]: a.md\n',
  ],
  ['programs are not prose', '```ts\nrun[0](x)\n```\n[x](x)\n', '```ts\nrun[0](x)\n```\nx\n'],
])('%s', (_, text, kept) => {
  expect(keepLiveLinks('docs/page.md', text, there)).toBe(kept);
});

test('no published page has a broken link', () => {
  const pages = pagesShipped();
  expect(pages).toEqual(
    expect.arrayContaining(['README.md', 'docs/operations/install.md', 'docs/adr/0002-time.md']),
  );
  const dead = pages.flatMap((page) =>
    targetsOf(page, publishedPage(page))
      .filter((target) => !isShipped(target))
      .map((target) => `${page}: ${target}`),
  );
  expect(dead).toEqual([]);
  // There are links to check.
  expect(targetsOf('README.md', publishedPage('README.md')).length).toBeGreaterThan(20);
  expect(targetsOf('README.md', readFileSync(join(root, 'README.md'), 'utf8')).length).toBeGreaterThan(25);
});
