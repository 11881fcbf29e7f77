// Where the bed's binaries come from, as far as it can be tested without building them.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BED_DIRECTORY } from './build.ts';
import { withLock } from './lock.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lapse-build-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function runBuild(env: NodeJS.ProcessEnv) {
  const full = { XDG_CACHE_HOME: join(directory, 'cache'), PATH: join(directory, 'nothing'), ...env };
  return spawnSync(process.execPath, [join(BED_DIRECTORY, 'build.ts')], { env: full, encoding: 'utf8' });
}

function writeAssets(names: string[]): string {
  const assets = join(directory, 'assets');
  mkdirSync(assets);
  for (const name of names) writeFileSync(join(assets, name), '', { mode: 0o755 });
  return assets;
}

test('without Go and without assets it fails with a one-line message', () => {
  const { status, stderr } = runBuild({});
  expect(status).toBe(1);
  expect(stderr).toMatch(/^The test bed needs Go [^\n]+ KUBEBUILDER_ASSETS [^\n]+\n$/);
});

test('complete assets are used unchanged', () => {
  const assets = writeAssets(['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl']);
  const { status, stdout } = runBuild({ KUBEBUILDER_ASSETS: assets });
  expect(status).toBe(0);
  expect(stdout.split('\n')).toContain(join(assets, 'kube-apiserver'));
});

test('assets that lack one of the binaries are not used', () => {
  const assets = writeAssets(['etcd', 'kube-apiserver', 'kubectl']);
  expect(runBuild({ KUBEBUILDER_ASSETS: assets }).status).toBe(1);
});

test('waits for a lock held by a living process, and both do their work in turn', async () => {
  const path = join(directory, 'lock');
  const steps: string[] = [];
  const first = withLock(path, async () => {
    await new Promise((done) => setImmediate(done));
    steps.push('first');
  });
  const second = withLock(path, async () => steps.push('second'));
  await Promise.all([first, second]);
  expect(steps).toEqual(['first', 'second']);
});

test('a lock left behind by a dead process is taken over', async () => {
  const path = join(directory, 'lock');
  const dead = spawnSync(process.execPath, ['-e', '']).pid;
  writeFileSync(path, String(dead));
  expect(await withLock(path, async () => 'done')).toBe('done');
});
