// `npm ci` must work from a fresh clone: the lock file contains every optional platform package, also those for other
// platforms than the one it was written on, names no download address, and has a hash for each package.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

interface Entry {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}

const text = readFileSync(join(import.meta.dirname, '../package-lock.json'), 'utf8');
const lock = JSON.parse(text) as { packages: Record<string, Entry> };
/** Without the packages of this repository and the links to them. */
const packages = Object.fromEntries(
  Object.entries(lock.packages).filter(([path, { link }]) => path.startsWith('node_modules/') && !link),
);

test('every optional dependency of every package has an entry', () => {
  const missing = Object.entries(lock.packages).flatMap(([path, { optionalDependencies = {} }]) =>
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

const isHashed = ({ integrity = '' }: Entry): boolean => /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity);

test('every package of the product has the hash that npm checks a download against', () => {
  const unchecked = Object.entries(packages).filter(([, e]) => !e.dev && !isHashed(e));
  expect(unchecked.map(([path]) => path)).toEqual([]);
});

// The rest are native builds of development tools for other systems: CI and the image never install them.
const BUILT_ON = { os: 'linux', cpu: ['x64', 'arm64'] };

test('every package that Linux on x64 or arm64 installs has a hash, those of development tools as well', () => {
  const unchecked = Object.entries(packages).filter(([, e]) => !isHashed(e));
  const installed = unchecked.filter(
    ([, { os = [BUILT_ON.os], cpu = BUILT_ON.cpu, optional, dev }]) =>
      !optional || !dev || (os.includes(BUILT_ON.os) && cpu.some((name) => BUILT_ON.cpu.includes(name))),
  );
  expect(installed.map(([path]) => path)).toEqual([]);
});
