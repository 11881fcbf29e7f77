// Checks that all product code that reads YAML counts aliases first.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !/\.(test|check|soak|kube|wire)\.ts$|testkit/.test(name))
  .map((name) => ({ name, text: readFileSync(join(root, name), 'utf8') }));

test('YAML documents are built only after their aliases were counted', () => {
  const builds = sources.flatMap(({ name, text }) =>
    [...text.matchAll(/^.*\.toJS(ON)?\(.*$/gm)].map(([line]) => `${name}: ${line.trim()}`),
  );
  expect(builds.length).toBeGreaterThan(4);
  expect(builds.filter((line) => !/boundedYaml\([\w!]+\)\s*\.toJS\(/.test(line))).toEqual([]);
});

test('no source calls the YAML library function that parses and builds in one step', () => {
  const imports = sources.filter(({ text }) => /import\s*\{[^}]*\bparse\b[^}]*\}\s*from 'yaml'/.test(text));
  expect(imports.map(({ name }) => name)).toEqual([]);
});
