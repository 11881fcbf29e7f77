// Diffs as kube-apiserver prints them in errors; recorded.test.ts has longer ones.

import { expect, test } from 'vitest';
import { unifiedDiff } from './unifiedDiff.ts';

const lines = (n: number, name = 'l') => Array.from({ length: n }, (_, i) => `${name}${i}`);

test.each([
  ['nothing', 'a\nb', 'a\nb', ''],
  ['one line', 'a', 'b', '@@ -1 +1 @@\n-a\n+b\n'],
  ['an added line', 'a\nb', 'a\nx\nb', '@@ -1,2 +1,3 @@\n a\n+x\n b\n'],
  ['a removed line', 'a\nx\nb', 'a\nb', '@@ -1,3 +1,2 @@\n a\n-x\n b\n'],
])('%s', (_, before, after, diff) => {
  expect(unifiedDiff(before, after)).toBe(diff);
});

test('prints three lines of context, and separate hunks for distant changes', () => {
  const before = lines(20);
  const after = before.with(2, 'x').with(17, 'y');
  expect(unifiedDiff(before.join('\n'), after.join('\n'))).toBe(
    `@@ -1,6 +1,6 @@\n l0\n l1\n-l2\n+x\n l3\n l4\n l5\n@@ -15,6 +15,6 @@\n l14\n l15\n l16\n-l17\n+y\n l18\n l19\n`,
  );
});

test('a popular line starts no match in a long text', () => {
  const long = lines(300).flatMap((l) => [l, '}']);
  const diff = unifiedDiff(long.join('\n'), long.toSpliced(1, 1).join('\n'));
  expect(diff).toBe('@@ -1,5 +1,4 @@\n l0\n-}\n l1\n }\n l2\n');
});

test('compares very long texts without common lines quickly', () => {
  const [a, b] = [lines(50_000, 'a').join('\n'), lines(50_000, 'b').join('\n')];
  expect(unifiedDiff(`x\n${a}\ny`, `x\n${b}\ny`)).toMatch(/^@@ -1,50002 \+1,50002 @@\n x\n-a0\n/);
});
