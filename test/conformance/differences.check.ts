import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DIFFERENCES_FILE, renderDifferences } from './differences.ts';
import { loadKnown } from './known.ts';
import { loadCases } from './replay/cases.ts';

test('differences.md matches known.json and deliberate.ts', () => {
  expect(readFileSync(DIFFERENCES_FILE, 'utf8')).toBe(renderDifferences());
});

test('every known difference names a recorded case and a reason', () => {
  const titles = new Set(loadCases().map((c) => c.title));
  for (const [title, { reason }] of Object.entries(loadKnown('wire'))) {
    expect(titles, title).toContain(title);
    expect(reason, title).not.toBe('');
  }
});

test('no two cases share a title', () => {
  const titles = loadCases().map((c) => c.title);
  expect(new Set(titles).size).toBe(titles.length);
});
