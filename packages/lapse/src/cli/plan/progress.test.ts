import type { Kind } from '@lapse/kube/api/kind';
import { Job, Pod } from '@lapse/kube/api/kinds/builtin';
import { expect, test } from 'vitest';
import { openProgress } from './progress.ts';

function told(wanted: boolean, isTTY: boolean, pages: readonly (readonly [Kind, number])[]): string[] {
  const written: string[] = [];
  const progress = openProgress(wanted, { isTTY, write: (text) => written.push(text) });
  for (const [kind, count] of pages) progress.read(kind, count);
  progress.done();
  return written;
}

const [jobs, pods] = [Job as Kind, Pod as Kind];
const over = (line: string) => `\r\u001b[2K${line}`;

test('on a terminal one line is rewritten, and removed at the end', () => {
  expect(
    told(true, true, [
      [jobs, 500],
      [jobs, 2000],
      [pods, 1],
    ]),
  ).toEqual([
    over('read 500 objects, now jobs'),
    over('read 2500 objects, now jobs'),
    over('read 2501 objects, now pods'),
    over(''),
  ]);
});

test('otherwise a line is printed for every ten thousand objects', () => {
  expect(
    told(
      true,
      false,
      Array.from({ length: 12 }, () => [jobs, 2000] as const),
    ),
  ).toEqual(['read 10000 objects, now jobs\n', 'read 20000 objects, now jobs\n']);
});

test('an empty page prints nothing', () => {
  expect(told(true, true, [[jobs, 0]])).toEqual([over('')]);
});

test('without progress enabled nothing is printed', () => {
  expect(told(false, true, [[jobs, 50_000]])).toEqual([]);
});
