// The walls of the house: who may import whom, where time, chance and environment may be read, and whether the plan
// (ARCHITECTURE.md) names only what exists.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bannedGlobals, importsOf, layerOf, MAY_IMPORT, violations } from './architecture/rules.ts';

const root = join(import.meta.dirname, '..');

function filesUnder(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile() && /\.tsx?$/.test(e.name))
    .map((e) => relative(root, join(e.parentPath, e.name)))
    .sort();
}

const sources = filesUnder(join(root, 'src')).map((path) => ({
  path,
  text: readFileSync(join(root, path), 'utf8'),
}));
const product = sources.filter(({ path }) => !/\.(test|soak|kube|check|wire)\.ts$|testkit/.test(path));

describe('layers', () => {
  test('every folder of src has a rule', () => {
    const folders = readdirSync(join(root, 'src')).filter((f) =>
      statSync(join(root, 'src', f)).isDirectory(),
    );
    expect(folders.filter((f) => !Object.hasOwn(MAY_IMPORT, f))).toEqual([]);
  });

  test('no file imports what its room may not enter', () => {
    expect(product.flatMap(({ path, text }) => violations(path, text))).toEqual([]);
  });

  test('the rule bites: a server that imports the client is reported', () => {
    const text = "import { createClient } from '#client/client';\n";
    expect(violations('src/apiserver/x.ts', text)).toEqual([
      'src/apiserver/x.ts imports #client/client: apiserver may not import client',
    ]);
  });

  test('the rule bites: a relative path into another room is reported', () => {
    expect(violations('src/cel/x.ts', "import '../api/json.ts';\n")).toHaveLength(1);
  });

  test('imports are found in all their forms', () => {
    const text = `import a from 'x';\nexport * from "#api/y";\nconst z = await import('node:fs');\nimport type { T } from './t.ts';`;
    expect(importsOf(text)).toEqual(['x', '#api/y', 'node:fs', './t.ts']);
  });
});

describe('hidden time, chance and environment', () => {
  test('Date, timers, performance and chance only in base; process.env and argv only in cmd', () => {
    expect(product.flatMap(({ path, text }) => bannedGlobals(path, text))).toEqual([]);
  });

  test.each([
    ['src/runtime/x.ts', 'const t = Date.now();', 1],
    ['src/runtime/x.ts', 'const t = new Date(5);', 1],
    ['src/runtime/x.ts', 'setTimeout(f, 5);', 1],
    ['src/runtime/x.ts', 'const r = Math.random();', 1],
    ['src/runtime/x.ts', 'const e = process.env.HOME;', 1],
    ['src/base/clock.ts', 'const t = Date.now();', 0],
    ['src/cmd/x.ts', 'const e = process.env.HOME;', 0],
    ['src/runtime/x.ts', '// a comment about Date.now() and setTimeout(', 0],
    ['src/runtime/x.ts', "const text = 'Date.now()';", 0],
    ['src/runtime/x.ts', 'const type: Date = value;', 0],
  ])('%s: %s', (path, text, count) => {
    expect(bannedGlobals(path, text)).toHaveLength(count);
  });
});

describe('ARCHITECTURE.md', () => {
  const plan = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const named = [
    ...plan.matchAll(/(?<![\w/#.-])((?:src|test|docs|bench|bin|config|examples|scripts)\/[\w./-]*\w\/?)/g),
  ].map((m) => m[1]!);

  test('it names places', () => {
    expect(named.length).toBeGreaterThan(10);
  });

  test('every path it names exists', () => {
    expect([...new Set(named)].filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

test('every room has a layer', () => {
  expect(layerOf('src/apiserver/verbs/get.ts')).toBe('apiserver');
});

test('files of the product are at most 300 lines', () => {
  const long = product
    .filter(({ text }) => text.split('\n').length > 301)
    .map(({ path, text }) => `${path}: ${text.split('\n').length}`);
  expect(long).toEqual([]);
});
