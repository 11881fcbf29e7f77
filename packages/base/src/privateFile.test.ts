import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readPrivate, writePrivate } from './privateFile.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lapse-private-'));
});
afterEach(() => rmSync(directory, { recursive: true }));
const at = (name: string): string => join(directory, name);
const modeOf = (file: string): number => statSync(file).mode & 0o777;

describe('writing', () => {
  test('a new file is readable by its owner only', () => {
    writePrivate(at('key'), 'secret');
    expect([readFileSync(at('key'), 'utf8'), modeOf(at('key'))]).toEqual(['secret', 0o600]);
  });

  test('an existing file that others can read becomes readable by its owner only', () => {
    writeFileSync(at('key'), 'old');
    chmodSync(at('key'), 0o644);
    writePrivate(at('key'), 'secret');
    expect([readFileSync(at('key'), 'utf8'), modeOf(at('key'))]).toEqual(['secret', 0o600]);
    expect(readdirSync(directory)).toEqual(['key']);
  });

  test.each(['existing', 'missing'])('a symbolic link to a file that is %s is rejected', (target) => {
    if (target === 'existing') writeFileSync(at(target), 'of another user');
    symlinkSync(at(target), at('key'));
    expect(() => writePrivate(at('key'), 'secret')).toThrow(/key is a symbolic link/);
    expect(existsSync(at('missing'))).toBe(false);
    if (target === 'existing') expect(readFileSync(at(target), 'utf8')).toBe('of another user');
  });

  test('a directory is rejected', () => {
    mkdirSync(at('key'));
    expect(() => writePrivate(at('key'), 'secret')).toThrow(/not a regular file/);
  });
});

describe('reading', () => {
  test('removes the permissions of other users', () => {
    writeFileSync(at('token'), 'abc\n');
    chmodSync(at('token'), 0o644);
    expect(readPrivate(at('token'))).toBe('abc\n');
    expect(modeOf(at('token'))).toBe(0o600);
  });

  test.each<[string, () => void, RegExp]>([
    ['an empty file', () => writeFileSync(at('token'), ''), /token is empty; remove it/],
    ['a file of white space', () => writeFileSync(at('token'), ' \n'), /token is empty; remove it/],
    ['a directory', () => mkdirSync(at('token')), /not a regular file/],
    ['nothing', () => {}, /ENOENT/],
    [
      'a symbolic link',
      () => {
        writeFileSync(at('other'), 'known to another user');
        symlinkSync(at('other'), at('token'));
      },
      /token is a symbolic link/,
    ],
  ])('%s is rejected', (_what, prepare, message) => {
    prepare();
    expect(() => readPrivate(at('token'))).toThrow(message);
  });
});
