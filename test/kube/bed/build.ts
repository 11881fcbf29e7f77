// The binaries of the test bed: etcd, kube-apiserver, kube-controller-manager and kubectl, built from Go modules at
// one version into a cache directory outside the repository, or taken from KUBEBUILDER_ASSETS when all four are there.
// Run directly (`node test/kube/bed/build.ts`) it builds and prints where they are.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withLock } from './lock.ts';

export const KUBERNETES_VERSION = 'v1.36.3';

const NAMES = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'] as const;
type BinaryName = (typeof NAMES)[number];
export type Binaries = Record<BinaryName, string>;

export const BED_DIRECTORY = dirname(fileURLToPath(import.meta.url));
const run = promisify(execFile);

/** Paths of all four binaries. Builds them first (minutes, once per version) if they do not exist. */
export async function ensureBinaries(): Promise<Binaries> {
  const assets = process.env.KUBEBUILDER_ASSETS;
  if (assets && isComplete(assets)) return binariesIn(assets);
  const cached = cacheDirectory();
  if (isComplete(cached)) return binariesIn(cached);
  mkdirSync(dirname(cached), { recursive: true });
  await withLock(`${cached}.lock`, async () => {
    if (!isComplete(cached)) await build(cached);
  });
  return binariesIn(cached);
}

/** Runs the go tool in the bed's module and returns its standard output. Without Go: a one-line error. */
export async function runGo(args: string[]): Promise<string> {
  try {
    const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false' };
    const { stdout } = await run('go', args, { cwd: BED_DIRECTORY, env, maxBuffer: 1 << 28 });
    return stdout;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new Error(
        `The test bed needs Go 1.26 or newer on the PATH, or KUBEBUILDER_ASSETS with ${NAMES.join(', ')}`,
      );
    }
    throw error;
  }
}

async function build(target: string): Promise<void> {
  const temporary = `${target}.${process.pid}`;
  mkdirSync(temporary, { recursive: true });
  try {
    await runGo(['build', '-ldflags', linkerFlags(), '-o', `${temporary}/`, './cmd/...']);
    rmSync(target, { recursive: true, force: true });
    renameSync(temporary, target);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function linkerFlags(): string {
  const [major, minor] = KUBERNETES_VERSION.slice(1).split('.');
  const stamps = {
    gitVersion: KUBERNETES_VERSION,
    gitMajor: major,
    gitMinor: minor,
    gitCommit: 'unknown',
    gitTreeState: 'clean',
  };
  const flags = Object.entries(stamps).map(([k, v]) => `-X k8s.io/component-base/version.${k}=${v}`);
  return ['-s', '-w', ...flags].join(' ');
}

/** Keyed by everything the binaries are built from, so that a changed go.mod never uses old binaries. */
function cacheDirectory(): string {
  const hash = createHash('sha256').update(linkerFlags());
  const mains = readdirSync(join(BED_DIRECTORY, 'cmd')).sort();
  for (const file of ['go.mod', 'go.sum', ...mains.map((name) => `cmd/${name}/main.go`)]) {
    hash.update(file).update(readFileSync(join(BED_DIRECTORY, file)));
  }
  const base = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return join(base, 'lapse', `bed-${KUBERNETES_VERSION}-${hash.digest('hex').slice(0, 12)}`);
}

function binariesIn(directory: string): Binaries {
  return Object.fromEntries(NAMES.map((name) => [name, join(directory, name)])) as Binaries;
}

function isComplete(directory: string): boolean {
  return NAMES.every((name) => isExecutable(join(directory, name)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

if (import.meta.main) {
  try {
    for (const path of Object.values(await ensureBinaries())) console.log(path);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
