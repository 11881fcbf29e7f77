// The examples of docs/explain.md, typed as the page shows them: the answers are these, but for how long ago that is.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { blocksOf } from './blocks.ts';

const root = join(import.meta.dirname, '../..');
const directory = mkdtempSync(join(tmpdir(), 'lapse-explain-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const blocks = blocksOf(join(root, 'docs/explain.md'));
for (const { saved, text } of blocks) if (saved !== undefined) writeFileSync(join(directory, saved), text);

const examples = blocks
  .filter(({ language }) => language === 'console')
  .map(({ text }) => {
    const [line = '', ...answer] = text.split('\n');
    return { command: line.replace(/^\$ lapse /, ''), answer: answer.join('\n') };
  });

/** Whatever depends on today. */
const timeless = (text: string): string =>
  text.replace(/\(overdue [^)]+\)/g, '(overdue …)').replace(/goes \S+ \(now\)/g, 'goes … (now)');

test('the page has examples', () => expect(examples.length).toBeGreaterThan(2));

test.each(examples)('lapse $command', ({ command, answer }) => {
  const stdout = execFileSync(join(root, 'bin/lapse'), command.split(' '), {
    cwd: directory,
    encoding: 'utf8',
  });
  expect(timeless(stdout)).toBe(answer);
});
