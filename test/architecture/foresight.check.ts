// One implementation of every rule: what is said beforehand is worked out by the functions that controllers act on, and
// neither foresight nor the commands that show it have any arithmetic with times of their own.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FAMILIES } from '#controllers/registry';
import { importsOf } from './rules.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const under = (directory: string): string[] =>
  existsSync(join(root, directory))
    ? readdirSync(join(root, directory), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
        .map((entry) => relative(root, join(entry.parentPath, entry.name)))
        .filter((path) => !/\.(test|soak|kube|check)\.ts$|testkit/.test(path))
        .sort()
    : [];

const folders = readdirSync(join(root, 'src/controllers'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const foresights = under('src/controllers').filter((path) => /\/foresee\w*\.ts$/.test(path));

/** What a file imports, and what the other foresights it imports do. */
function reach(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const specifier of importsOf(read(path))) {
    const target = specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : specifier;
    if (foresights.includes(target)) reach(target, seen);
    else seen.add(target);
  }
  return seen;
}

describe('foresight', () => {
  test('every family has one', () => {
    expect(FAMILIES.filter(({ foresight }) => foresight === undefined).map(({ name }) => name)).toEqual([]);
    expect(folders.filter((name) => !existsSync(join(root, `src/controllers/${name}/foresee.ts`)))).toEqual(
      [],
    );
  });

  test.each(folders)('%s asks the functions that decide', (name) => {
    const folder = `src/controllers/${name}`;
    const compute = existsSync(join(root, `${folder}/compute.ts`))
      ? `${folder}/compute.ts`
      : '#lifecycle/requests/ttl';
    expect([...reach(`${folder}/foresee.ts`)]).toContain(compute);
  });
});

/** Names that make a time out of another, or compare it with now. */
const ARITHMETIC = ['plus', 'minus', 'isDue', 'millis', 'seconds', 'minutes', 'hours'];

function arithmeticIn(path: string, text: string): string[] {
  const found: string[] = [];
  for (const [, names, module] of text.matchAll(
    /import\s*(?:type\s*)?\{([^}]*)\}\s*from\s*'(#base\/\w+)'/g,
  )) {
    const imported = names!.split(',').map((name) => name.replace(/\btype\b|\bas\b.*/g, '').trim());
    if (module === '#base/instant') found.push(...imported.filter((name) => ARITHMETIC.includes(name)));
    if (module === '#base/goDuration') found.push(...imported);
  }
  if (/\bcomputeExpiry\b|\bwhenTrue\b/.test(text)) found.push('a rule of the kernel');
  return found.map((name) => `${path}: ${name}`);
}

describe('no second implementation', () => {
  /** How far ahead to look, and how far away something is. */
  const TIMES = 'src/cmd/plan/times.ts';
  const shows = ['src/cmd/plan.ts', 'src/cmd/explain.ts'].filter((path) => existsSync(join(root, path)));
  const commands = [...shows, ...under('src/cmd/plan'), ...under('src/cmd/explain')];

  test('neither foresight nor plan nor explain calculates with times', () => {
    const files = [...foresights, ...commands].filter((path) => path !== TIMES);
    expect(files.flatMap((path) => arithmeticIn(path, read(path)))).toEqual([]);
  });

  test('commands ask families, never their compute functions', () => {
    const direct = commands.flatMap((path) =>
      importsOf(read(path))
        .filter((specifier) => /^#controllers\/[^/]+\//.test(specifier))
        .map((specifier) => `${path} imports ${specifier}`),
    );
    expect(direct).toEqual([]);
  });

  test.each([
    ["import { type Instant, plus } from '#base/instant';", 1],
    ["import {\n  isDue,\n  seconds,\n} from '#base/instant';", 2],
    ["import { parseGoDuration } from '#base/goDuration';", 1],
    ["import { computeExpiry } from '#lifecycle/expiry';", 1],
    ["import type { Instant } from '#base/instant';", 0],
    ["import { formatTime, type Millis } from '#base/instant';", 0],
  ])('the rule bites: %s', (text, count) => {
    expect(arithmeticIn('x.ts', text)).toHaveLength(count);
  });
});
