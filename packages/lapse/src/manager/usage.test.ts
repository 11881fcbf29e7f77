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

describe('errors are reported in one readable line', () => {
  test.each<[string, () => unknown, string]>([
    [
      'a file that does not exist',
      () => readFileSync(join(scratch, 'none')),
      'a.yaml: no such file or directory',
    ],
    [
      'a directory instead of a file',
      () => readFileSync(scratch),
      'a.yaml: illegal operation on a directory',
    ],
    [
      'a file with invalid YAML',
      () => parse('{ broken\n'),
      'a.yaml: Flow map must end with a } at line 2, column 1',
    ],
    [
      'messages of Lapse are not changed',
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
  test('is created with its parents; an existing one is not changed', () => {
    const path = join(scratch, 'a', 'b');
    makeDirectory(path);
    writeFileSync(join(path, 'kept'), 'x');
    makeDirectory(path);
    expect(readFileSync(join(path, 'kept'), 'utf8')).toBe('x');
  });

  test.each([
    ['a file of that name', 'file', /file is a file, not a directory/],
    ['a file as parent directory', 'file/x', /file is a file, not a directory|ENOTDIR/],
  ])('is not created over %s', (_rule, path, message) => {
    writeFileSync(join(scratch, 'file'), '');
    expect(() => makeDirectory(join(scratch, path))).toThrow(message);
  });

  // The recursive mkdir of Node.js never returns for this path.
  test('is refused where nothing can be created', () => {
    expect(() => makeDirectory('/proc/lapse/data')).toThrow();
  });
});

test('a request log that cannot be written is refused at startup', () => {
  expect(() => requestLog(join(scratch, 'none', 'log'))).toThrow(
    new UsageError(`--request-log ${join(scratch, 'none', 'log')}: no such file or directory`),
  );
});
