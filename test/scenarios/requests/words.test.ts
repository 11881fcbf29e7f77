// Rule 19: reasons, conditions and annotations are always taken from the constants of the API.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as words from 'lapse/api/storage/conditions';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../../packages');
const folders = [
  'lapse/src/requests',
  'lapse/src/controllers/volume-capture',
  'lapse/src/controllers/volume-restore',
  'lapse/src/controllers/manifest-capture',
  'lapse/src/controllers/object-keeper',
  'lapse/src/controllers/request-ttl',
  'lapse/src/simulation',
  'simulation/src/controllers',
];
const files = folders
  .flatMap((folder) => readdirSync(join(root, folder), { withFileTypes: true }))
  .filter(
    (entry) =>
      entry.isFile() && entry.name.endsWith('.ts') && !/\.(test|soak|kube|testkit)\./.test(entry.name),
  )
  .map((entry) => join(entry.parentPath, entry.name));

/** Strings that also mean something else: a phase or condition of Jobs, a kind of response. */
const ORDINARY = new Set(['Pending', 'Running', 'TTL', 'Failed']);
const constants = Object.values(words)
  .flatMap((value) =>
    typeof value === 'string' ? [value] : typeof value === 'object' ? Object.values(value) : [],
  )
  .filter((word): word is string => typeof word === 'string' && !ORDINARY.has(word));

const literals = (text: string): string[] =>
  [...text.replace(/\/\/.*$/gm, '').matchAll(/'([^'\n]*)'|"([^"\n]*)"/g)].map(
    (match) => match[1] ?? match[2] ?? '',
  );

test('no file repeats a string that has a constant', () => {
  const spelled = files.flatMap((file) =>
    literals(readFileSync(file, 'utf8'))
      .filter((literal) => constants.includes(literal))
      .map((literal) => `${file.slice(root.length)}: ${literal}`),
  );
  // The simulated Job controller uses the condition of Pods, which has the same name.
  expect(spelled.filter((line) => !/simulation\/src\/controllers\//.test(line))).toEqual([]);
});

test('the check finds at least one constant', () => {
  expect(files.length).toBeGreaterThan(20);
  expect(constants).toContain('OwnershipConflict');
  expect(literals("a('OwnershipConflict') // 'NotFound'")).toEqual(['OwnershipConflict']);
});

test('every reason is reachable: the tables of captures, restores and manifests name each', () => {
  const tables = [
    'captureReasons.test.ts',
    'artifactLost.test.ts',
    'restore.test.ts',
    'ttlAnnotation.test.ts',
    '../manifest/reasons.test.ts',
  ]
    .map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'))
    .join('\n');
  for (const reason of Object.values(words.Reason))
    expect(tables).toMatch(new RegExp(`(True|False) ${reason}\\b`));
});
