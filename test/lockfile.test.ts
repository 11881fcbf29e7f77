// `npm ci` must work from a fresh clone: the lock file knows every optional platform package, also those that the
// machine it was written on could not see, and names no download address.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

interface Entry {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly resolved?: string;
}

const text = readFileSync(join(import.meta.dirname, '../package-lock.json'), 'utf8');
const { packages } = JSON.parse(text) as { packages: Record<string, Entry> };

test('every optional dependency of every package has an entry', () => {
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages),
    ),
  );
  expect(missing).toEqual([]);
});

test('no entry names a host', () => {
  expect(Object.values(packages).filter((entry) => entry.resolved !== undefined)).toEqual([]);
  expect(text).not.toMatch(/https?:\/\/registry/);
});
