// Helm 3 and Helm 4, built from their Go modules (v3 and v4 beside this file) into a cache directory outside the
// repository, keyed by their sources.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { withLock } from '../bed/lock.ts';

const run = promisify(execFile);

export type HelmMajor = 3 | 4;

const sourceOf = (major: HelmMajor): string => join(import.meta.dirname, `v${major}`);

/** The helm binary of this major version. Builds it first (a minute, once per version) if it does not exist. */
export async function ensureHelm(major: HelmMajor): Promise<string> {
  const source = sourceOf(major);
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(source, file)));
  const base = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const directory = join(base, 'lapse', `helm${major}-${hash.digest('hex').slice(0, 12)}`);
  const binary = join(directory, 'helm');
  if (existsSync(binary)) return binary;
  mkdirSync(dirname(directory), { recursive: true });
  await withLock(`${directory}.lock`, async () => {
    if (!existsSync(binary)) await build(major, source, directory);
  });
  return binary;
}

async function build(major: HelmMajor, source: string, directory: string): Promise<void> {
  const temporary = `${directory}.${process.pid}`;
  mkdirSync(temporary, { recursive: true });
  try {
    const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false' };
    const target = `helm.sh/helm/v${major}/cmd/helm`;
    const output = join(temporary, 'helm');
    await run('go', ['build', '-ldflags', '-s -w', '-o', output, target], {
      cwd: source,
      env,
      maxBuffer: 1 << 26,
    });
    rmSync(directory, { recursive: true, force: true });
    renameSync(temporary, directory);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

export interface Helm {
  readonly major: HelmMajor;
  /** Runs helm as the admin and returns its standard output; throws if it fails. */
  run(...args: string[]): Promise<string>;
}

/** Helm with a separate home in `directory`. */
export async function helmFor(
  major: HelmMajor,
  bed: { readonly kubeconfig: string; readonly directory: string },
  driver: 'secret' | 'configmap' = 'secret',
): Promise<Helm> {
  const binary = await ensureHelm(major);
  const home = join(bed.directory, `helm${major}`);
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    HELM_CACHE_HOME: join(home, 'cache'),
    HELM_CONFIG_HOME: join(home, 'config'),
    HELM_DATA_HOME: join(home, 'data'),
    HELM_DRIVER: driver,
    KUBECONFIG: bed.kubeconfig,
  };
  return {
    major,
    run: async (...args) => (await run(binary, args, { env, maxBuffer: 1 << 26 })).stdout,
  };
}
