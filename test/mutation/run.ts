// npm run test:mutation [-- FILE…]: changes the files that decide about deletions, one place at a time, and runs the
// tests beside them. Prints the changes that no test detects. The sources themselves are not changed: everything
// happens in a copy.

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Mutant, mutantsOf } from './mutants.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Files that contain decisions. */
const DECISIONS = [
  'packages/lapse/src/authors/authorAdmission.ts',
  'packages/lapse/src/expiry/expiry.ts',
  'packages/lapse/src/authors/authorSeal.ts',
  'packages/lapse/src/controllers/ttl-after-finished/decide.ts',
  'packages/lapse/src/expiry/podFinish.ts',
  'packages/lapse/src/expiry/ownTtl.ts',
  'packages/lapse/src/expiry/ttlAnnotation.ts',
  'packages/lapse/src/controllers/ttl-policy/combine.ts',
  'packages/lapse/src/controllers/ttl-policy/decide.ts',
  'packages/lapse/src/controllers/ttl-policy/ownTtl.ts',
  'packages/lapse/src/controllers/object-keeper/decide.ts',
  'packages/lapse/src/controllers/storage-pool/decide.ts',
  'packages/lapse/src/controllers/volume-capture/decide.ts',
  'packages/lapse/src/controllers/volume-capture/classSecret.ts',
  'packages/lapse/src/controllers/volume-capture/decideDetach.ts',
  'packages/lapse/src/controllers/volume-capture/decideSnapshot.ts',
  'packages/lapse/src/controllers/volume-restore/decide.ts',
  'packages/lapse/src/controllers/manifest-capture/decide.ts',
  'packages/lapse/src/controllers/cleaner/conditions.ts',
  'packages/lapse/src/controllers/cleaner/decide.ts',
  'packages/lapse/src/controllers/cleaner/record.ts',
  'packages/lapse/src/helm/order.ts',
  'packages/lapse/src/helm/ownership.ts',
  'packages/lapse/src/helm/uninstallPlan.ts',
];

const COPIED = [
  'packages',
  'test',
  'examples',
  'config',
  'docs',
  'package.json',
  'vitest.config.ts',
  'tsconfig.json',
];
const PATIENCE = 120_000;

function copySources(): string {
  const copy = mkdtempSync(join(tmpdir(), 'lapse-mutation-'));
  for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  linkModules(copy);
  return copy;
}

/** The packages of the workspace are those of the copy. */
function linkModules(copy: string): void {
  const modules = join(copy, 'node_modules');
  mkdirSync(join(modules, '@lapse'), { recursive: true });
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (name !== 'lapse' && name !== '@lapse')
      symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  for (const name of readdirSync(join(copy, 'packages')))
    symlinkSync(join(copy, 'packages', name), join(modules, name === 'lapse' ? name : `@lapse/${name}`));
}

/** Tests of a file that have another name, or are in another folder. */
const TESTS: Readonly<Record<string, readonly string[]>> = {
  'packages/lapse/src/controllers/ttl-policy/combine.ts': [
    'combine',
    'decide',
    'annotations',
    'decideSeveral',
  ].map((name) => `packages/lapse/src/controllers/ttl-policy/${name}.test.ts`),
  'packages/lapse/src/controllers/ttl-policy/decide.ts': [
    'decide',
    'finish',
    'annotations',
    'decideSeveral',
    'notices',
    'scope',
  ].map((name) => `packages/lapse/src/controllers/ttl-policy/${name}.test.ts`),
  'packages/lapse/src/authors/authorAdmission.ts': ['authorAdmission', 'authorRequests'].map(
    (name) => `packages/lapse/src/authors/${name}.test.ts`,
  ),
  'packages/lapse/src/authors/authorSeal.ts': ['authorSeal', 'sealAge'].map(
    (name) => `packages/lapse/src/authors/${name}.test.ts`,
  ),
  'packages/lapse/src/controllers/cleaner/conditions.ts': ['conditions', 'nextEvaluation'].map(
    (name) => `packages/lapse/src/controllers/cleaner/${name}.test.ts`,
  ),
  'packages/lapse/src/controllers/storage-pool/decide.ts': ['decide', 'decideVolumeGroups'].map(
    (name) => `packages/lapse/src/controllers/storage-pool/${name}.test.ts`,
  ),
  'packages/lapse/src/expiry/ownTtl.ts': ['packages/lapse/src/controllers/ttl-policy/ownTtl.test.ts'],
  'packages/lapse/src/expiry/ttlAnnotation.ts': [
    'packages/lapse/src/expiry/ttlAnnotation.test.ts',
    'packages/lapse/src/controllers/ttl-policy/annotations.test.ts',
  ],
  'packages/lapse/src/expiry/podFinish.ts': [
    'packages/lapse/src/controllers/ttl-after-finished/podFinish.test.ts',
  ],
};

/** The test of the same name, or all fast tests of the folder. */
function testsFor(file: string): readonly string[] {
  const named = TESTS[file];
  if (named !== undefined) return named;
  const own = file.replace(/\.ts$/, '.test.ts');
  if (existsSync(join(ROOT, own))) return [own];
  const folder = dirname(file);
  return readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(folder, name));
}

/** Whether the tests pass. */
function passes(copy: string, tests: readonly string[]): boolean {
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--project', 'fast', '--bail', '1', ...tests];
  const { status } = spawnSync(process.execPath, args, { cwd: copy, stdio: 'ignore', timeout: PATIENCE });
  return status === 0;
}

interface Score {
  readonly file: string;
  readonly mutants: number;
  readonly survivors: readonly Mutant[];
}

function tryFile(copy: string, file: string): Score {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const tests = testsFor(file);
  if (!passes(copy, tests))
    throw new Error(`the tests of ${file} fail without any change: ${tests.join(' ')}`);
  const mutants = mutantsOf(text);
  const survivors = mutants.filter((mutant) => {
    writeFileSync(join(copy, file), mutant.text);
    return passes(copy, tests);
  });
  writeFileSync(join(copy, file), text);
  return { file, mutants: mutants.length, survivors };
}

const percentOf = ({ mutants, survivors }: Score): string =>
  mutants === 0 ? '-' : `${Math.round((100 * (mutants - survivors.length)) / mutants)} %`;

function print(score: Score): void {
  const { file, mutants, survivors } = score;
  process.stdout.write(`| ${file} | ${mutants} | ${mutants - survivors.length} | ${percentOf(score)} |\n`);
  for (const { line, before, after } of survivors)
    process.stderr.write(`${file}:${line}\n  - ${before.trim()}\n  + ${after.trim()}\n`);
}

const chosen = process.argv.slice(2);
const copy = copySources();
try {
  process.stdout.write('| File | Mutants | Noticed | Score |\n|---|---|---|---|\n');
  for (const file of chosen.length === 0 ? DECISIONS : chosen) print(tryFile(copy, file));
} finally {
  rmSync(copy, { recursive: true, force: true });
}
