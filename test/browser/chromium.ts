// A real browser for tests: CHROMIUM, one on the PATH, or Debian's own packages unpacked into the cache beside the test
// bed's binaries (no root needed, nothing of the machine is changed). Where none of these works, the reason.

import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { withLock } from '../kube/bed/lock.ts';

const run = promisify(execFile);
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const PACKAGES = ['chromium', 'fonts-dejavu-core'];

export interface Chromium {
  readonly path: string;
  /** Where libraries lie that the machine has not; empty for an installed one. */
  readonly libraries: readonly string[];
}

export type Found = { readonly chromium: Chromium } | { readonly missing: string };

export async function findChromium(): Promise<Found> {
  const installed = process.env.CHROMIUM || onPath();
  if (installed) return { chromium: { path: installed, libraries: [] } };
  const cached = join(
    process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
    'lapse',
    `chromium-${process.arch}`,
  );
  if (existsSync(binaryIn(cached))) return { chromium: unpackedIn(cached) };
  mkdirSync(dirname(cached), { recursive: true });
  try {
    await withLock(`${cached}.lock`, async () => {
      if (!existsSync(binaryIn(cached))) await unpack(cached);
    });
    return { chromium: unpackedIn(cached) };
  } catch (error) {
    const [line] = (error as Error).message.split('\n');
    return { missing: `no chromium on the PATH or in CHROMIUM, and Debian's could not be fetched (${line})` };
  }
}

function onPath(): string | undefined {
  const directories = (process.env.PATH ?? '').split(delimiter);
  return directories.flatMap((directory) => NAMES.map((name) => join(directory, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The wrapper in usr/bin reads files of a whole installation; the program itself needs none. */
const binaryIn = (root: string): string => join(root, 'usr/lib/chromium/chromium');

function unpackedIn(root: string): Chromium {
  const libraries = ['usr/lib', 'lib']
    .map((part) => join(root, part))
    .filter(existsSync)
    .flatMap((part) => readdirSync(part, { recursive: true, withFileTypes: true }))
    .filter((entry) => /\.so(\.|$)/.test(entry.name))
    .map((entry) => entry.parentPath);
  return { path: binaryIn(root), libraries: [...new Set(libraries)] };
}

/** What is installed already is not fetched again: apt says what would be missing. */
async function unpack(target: string): Promise<void> {
  const temporary = `${target}.${process.pid}`;
  mkdirSync(join(temporary, 'root'), { recursive: true });
  try {
    const names = await missingPackages();
    await run('apt-get', ['download', ...names], { cwd: temporary, maxBuffer: 1 << 26 });
    for (const file of readdirSync(temporary).filter((name) => name.endsWith('.deb')))
      await run('dpkg-deb', ['-x', join(temporary, file), join(temporary, 'root')]);
    rmSync(target, { recursive: true, force: true });
    renameSync(join(temporary, 'root'), target);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

async function missingPackages(): Promise<string[]> {
  const ask = () => run('apt-get', ['install', '--no-install-recommends', '-y', '--print-uris', ...PACKAGES]);
  // A machine that never asked for the lists does not know the packages yet; only root may ask.
  const { stdout } = await ask().catch(async () => {
    await run('apt-get', ['update']);
    return await ask();
  });
  return [...stdout.matchAll(/^'[^']+' ([^_\s]+)_\S+\.deb/gm)].map((match) => match[1]!);
}
