import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { makeDirectory } from '#cli/directories';
import { requestLog } from '#cli/requestLog';
import { explained, UsageError } from './usage.ts';

const scratch = mkdtempSync(join(tmpdir(), 'lapse-usage-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe('what went wrong is said in one line, in words', () => {
  test.each<[string, () => unknown, string]>([
    [
      'a file that is not there',
      () => readFileSync(join(scratch, 'none')),
      'a.yaml: no such file or directory',
    ],
    ['a directory for a file', () => readFileSync(scratch), 'a.yaml: illegal operation on a directory'],
    [
      'YAML that is none',
      () => parse('{ broken\n'),
      'a.yaml: Flow map must end with a } at line 2, column 1',
    ],
    [
      'words of ours stay as they are',
      () => {
        throw new Error('line 1, column 2');
      },
      'a.yaml: line 1, column 2',
    ],
  ])('%s', (_rule, fail, message) => {
    expect(() => explained('a.yaml', fail)).toThrow(new UsageError(message));
  });
});

describe('a directory', () => {
  test('is made with those above it; one that is there is left alone', () => {
    const path = join(scratch, 'a', 'b');
    makeDirectory(path);
    writeFileSync(join(path, 'kept'), 'x');
    makeDirectory(path);
    expect(readFileSync(join(path, 'kept'), 'utf8')).toBe('x');
  });

  test.each([
    ['a file of that name', 'file', /file is a file, not a directory/],
    ['a file above it', 'file/x', /file is a file, not a directory|ENOTDIR/],
  ])('is not made over %s', (_rule, path, message) => {
    writeFileSync(join(scratch, 'file'), '');
    expect(() => makeDirectory(join(scratch, path))).toThrow(message);
  });

  // Node's own recursion never comes back from there.
  test('is refused where nothing can be made', () => {
    expect(() => makeDirectory('/proc/lapse/data')).toThrow();
  });
});

test('a log of requests that cannot be written is refused before anything starts', () => {
  expect(() => requestLog(join(scratch, 'none', 'log'))).toThrow(
    new UsageError(`--request-log ${join(scratch, 'none', 'log')}: no such file or directory`),
  );
});
