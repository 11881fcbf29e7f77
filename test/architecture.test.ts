// Import rules, where time, randomness and environment may be read, and whether ARCHITECTURE.md names only existing
// paths.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesOnCycles } from './architecture/cycles.ts';
import { bannedGlobals, importsOf, LAYERS, type Listed, placeOf, violations } from './architecture/rules.ts';

const root = join(import.meta.dirname, '..');

function filesUnder(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile() && /\.tsx?$/.test(e.name))
    .map((e) => relative(root, join(e.parentPath, e.name)))
    .sort();
}

const packages = readdirSync(join(root, 'packages'));
const manifests: Record<string, Listed> = Object.fromEntries(
  packages.map((name) => [
    name,
    JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as Listed,
  ]),
);
const product = packages
  .flatMap((name) => filesUnder(join(root, 'packages', name, 'src')))
  .filter((path) => !/\.(test|soak|kube|check|wire)\.ts$|testkit|Fixture\.ts$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

describe('imports', () => {
  test('every folder of the product has a rule', () => {
    const folders = readdirSync(join(root, 'packages/lapse/src'), { withFileTypes: true }).map((e) => e.name);
    expect(folders.filter((name) => !Object.hasOwn(LAYERS, name))).toEqual([]);
  });

  test('no file imports what package.json or its layer does not allow', () => {
    const found = product.flatMap(({ path, text }) => violations(path, text, manifests[placeOf(path).name]!));
    expect(found).toEqual([]);
  });

  test('packages depend on each other without cycles', () => {
    const below = (name: string, path: readonly string[] = []): string[] =>
      path.includes(name)
        ? [[...path, name].join(' → ')]
        : Object.keys(manifests[name]!.dependencies ?? {})
            .filter((dependency) => dependency.startsWith('@lapse/'))
            .flatMap((dependency) => below(dependency.slice('@lapse/'.length), [...path, name]));
    expect(packages.flatMap((name) => below(name))).toEqual([]);
  });

  test('the files of the API server import each other without cycles, types included', () => {
    const files = product.filter(({ path }) => placeOf(path).name === 'apiserver');
    expect(files.length).toBeGreaterThan(100);
    expect(filesOnCycles(files)).toEqual([]);
  });

  test('a cycle is found through relative and # imports, and files beside it are not named', () => {
    const file = (name: string, ...specifiers: string[]) => ({
      path: `packages/apiserver/src/${name}.ts`,
      text: specifiers.map((specifier) => `import type { X } from '${specifier}';\n`).join(''),
    });
    const files = [
      file('a', './b/b.ts'),
      file('b/b', '#c/c', '../leaf.ts'),
      file('c/c', '../a.ts'),
      file('user', './a.ts'),
      file('leaf'),
    ];
    expect(filesOnCycles(files)).toEqual(files.slice(0, 3).map(({ path }) => path));
  });

  test.each([
    ['packages/apiserver/src/x.ts', '@lapse/runtime/queue', 'package.json does not list @lapse/runtime'],
    ['packages/cel/src/x.ts', '../../base/src/clock.ts', 'a relative path leaves the package'],
    ['packages/lapse/src/deletion/x.ts', '#controllers/registry', 'deletion may not import controllers'],
    ['packages/lapse/src/helm/x.ts', '../cli/main.ts', 'helm may not import cli'],
    ['packages/lapse/src/controllers/cleaner/x.ts', 'node:fs', 'controllers may not import it'],
    [
      'packages/lapse/src/controllers/cleaner/x.ts',
      '../ttl-policy/compute.ts',
      'the controller cleaner may not import the controller ttl-policy',
    ],
    ['packages/lapse/src/controllers/cleaner/x.ts', '../forecaster.ts', undefined],
    ['packages/lapse/src/controllers/registry.ts', './cleaner/family.ts', undefined],
    ['packages/lapse/src/cli/x.ts', '@lapse/base/clock', undefined],
  ])('%s importing %s', (path, specifier, why) => {
    const listed = { dependencies: { '@lapse/base': '0' } };
    expect(violations(path, `import '${specifier}';\n`, listed)).toEqual(
      why === undefined ? [] : [`${path} imports ${specifier}: ${why}`],
    );
  });

  test('imports are found in all their forms', () => {
    const text = `import a from 'x';\nexport * from "#api/y";\nconst z = await import('node:fs');\nimport type { T } from './t.ts';`;
    expect(importsOf(text)).toEqual(['x', '#api/y', 'node:fs', './t.ts']);
  });
});

test('a command imports no folder of another command, except `up`', () => {
  const folderOf = /^packages\/lapse\/src\/cli\/(\w+)\//;
  const found = product.flatMap(({ path, text }) => {
    const [, command] = folderOf.exec(path) ?? [];
    if (command === undefined || command === 'up') return [];
    const others = importsOf(text).filter((specifier) => /^\.\.\/\w+\//.test(specifier));
    return others.map((specifier) => `${path} imports ${specifier}`);
  });
  expect(found).toEqual([]);
});

test('controllers send DELETEs only through the deletion folder', () => {
  const isController = /^packages\/lapse\/src\/(controllers|requests|helm|checkpoint)\//;
  const sends = /\bclient\.delete\w*\(/i;
  const found = product.filter(({ path, text }) => isController.test(path) && sends.test(text));
  expect(found.map(({ path }) => path)).toEqual([]);
  const deletion = product.filter(({ path }) => path.startsWith('packages/lapse/src/deletion/'));
  expect(deletion.filter(({ text }) => sends.test(text))).toHaveLength(1);
});

describe('time, randomness and environment', () => {
  test('Date, timers, performance and randomness only in @lapse/base; process.env and argv only in the CLI', () => {
    expect(product.flatMap(({ path, text }) => bannedGlobals(path, text))).toEqual([]);
  });

  test.each([
    ['packages/runtime/src/x.ts', 'const t = Date.now();', 1],
    ['packages/runtime/src/x.ts', 'const t = new Date(5);', 1],
    ['packages/runtime/src/x.ts', 'setTimeout(f, 5);', 1],
    ['packages/runtime/src/x.ts', 'const r = Math.random();', 1],
    ['packages/runtime/src/x.ts', 'const e = process.env.HOME;', 1],
    ['packages/base/src/clock.ts', 'const t = Date.now();', 0],
    ['packages/lapse/src/cli/x.ts', 'const e = process.env.HOME;', 0],
    ['packages/runtime/src/x.ts', '// a comment about Date.now() and setTimeout(', 0],
    ['packages/runtime/src/x.ts', "const text = 'Date.now()';", 0],
    ['packages/runtime/src/x.ts', 'const type: Date = value;', 0],
  ])('%s: %s', (path, text, count) => {
    expect(bannedGlobals(path, text)).toHaveLength(count);
  });
});

describe('ARCHITECTURE.md', () => {
  const plan = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const named = [
    ...plan.matchAll(
      /(?<![\w/#.-])((?:packages|test|docs|bench|bin|config|examples|scripts)\/[\w./-]*\w\/?)/g,
    ),
  ].map((m) => m[1]!);

  test('it names paths', () => {
    expect(named.length).toBeGreaterThan(10);
  });

  test('every path it names exists', () => {
    expect([...new Set(named)].filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

test('files of the product are at most 300 lines', () => {
  const long = product
    .filter(({ text }) => text.split('\n').length > 301)
    .map(({ path, text }) => `${path}: ${text.split('\n').length}`);
  expect(long).toEqual([]);
});
