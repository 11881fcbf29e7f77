// Every rule has one implementation: forecasts use the functions that controllers act on, and neither forecasts nor the
// commands that show them calculate with times themselves.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { FAMILIES } from 'lapse/controllers/registry';
import { describe, expect, test } from 'vitest';
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

const folders = readdirSync(join(root, 'packages/lapse/src/controllers'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const forecasts = under('packages/lapse/src/controllers').filter((path) => /\/forecast\w*\.ts$/.test(path));

/** The imports of a file, and those of the other forecasts it imports. */
function reach(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const specifier of importsOf(read(path))) {
    const target = specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : specifier;
    if (forecasts.includes(target)) reach(target, seen);
    else seen.add(target);
  }
  return seen;
}

describe('forecasts', () => {
  test('every family has a forecast', () => {
    expect(FAMILIES.filter(({ forecaster }) => forecaster === undefined).map(({ name }) => name)).toEqual([]);
    expect(
      folders.filter((name) => !existsSync(join(root, `packages/lapse/src/controllers/${name}/forecast.ts`))),
    ).toEqual([]);
  });

  test.each(folders)('%s uses the functions that decide', (name) => {
    const folder = `packages/lapse/src/controllers/${name}`;
    const decide = existsSync(join(root, `${folder}/decide.ts`)) ? `${folder}/decide.ts` : '#requests/ttl';
    expect([...reach(`${folder}/forecast.ts`)]).toContain(decide);
  });
});

/** Names of functions that derive a time from another, or compare it with now. */
const ARITHMETIC = ['plus', 'minus', 'isDue', 'millis', 'seconds', 'minutes', 'hours'];

function arithmeticIn(path: string, text: string): string[] {
  const found: string[] = [];
  for (const [, names, module] of text.matchAll(
    /import\s*(?:type\s*)?\{([^}]*)\}\s*from\s*'(@lapse\/base\/\w+)'/g,
  )) {
    const imported = names!.split(',').map((name) => name.replace(/\btype\b|\bas\b.*/g, '').trim());
    if (module === '@lapse/base/instant') found.push(...imported.filter((name) => ARITHMETIC.includes(name)));
    if (module === '@lapse/base/goDuration') found.push(...imported);
  }
  if (/\bcomputeExpiry\b|\bwhenTrue\b/.test(text)) found.push('a rule of the kernel');
  return found.map((name) => `${path}: ${name}`);
}

describe('no second implementation', () => {
  /** The horizon, and the distance of a time. */
  const TIMES = 'packages/lapse/src/cli/times.ts';
  const shows = [
    'packages/lapse/src/cli/plan/planCommand.ts',
    'packages/lapse/src/cli/explain/explainCommand.ts',
  ].filter((path) => existsSync(join(root, path)));
  const commands = [
    ...shows,
    ...under('packages/lapse/src/cli/plan'),
    ...under('packages/lapse/src/cli/explain'),
    // A simulation runs a clock; plan and explain only read times that controllers computed.
    ...under('packages/lapse/src/forecast').filter((path) => !path.includes('/simulate/')),
  ];

  test('neither forecasts nor plan nor explain calculate with times', () => {
    const files = [...forecasts, ...commands].filter((path) => path !== TIMES);
    expect(files.flatMap((path) => arithmeticIn(path, read(path)))).toEqual([]);
  });

  test('commands call families, never their compute functions', () => {
    const direct = commands.flatMap((path) =>
      importsOf(read(path))
        .filter((specifier) => /^#controllers\/[^/]+\//.test(specifier))
        .map((specifier) => `${path} imports ${specifier}`),
    );
    expect(direct).toEqual([]);
  });

  test.each([
    ["import { type Instant, plus } from '@lapse/base/instant';", 1],
    ["import {\n  isDue,\n  seconds,\n} from '@lapse/base/instant';", 2],
    ["import { parseGoDuration } from '@lapse/base/goDuration';", 1],
    ["import { computeExpiry } from 'lapse/expiry/expiry';", 1],
    ["import type { Instant } from '@lapse/base/instant';", 0],
    ["import { formatTime, type Millis } from '@lapse/base/instant';", 0],
  ])('the rule detects: %s', (text, count) => {
    expect(arithmeticIn('x.ts', text)).toHaveLength(count);
  });
});
