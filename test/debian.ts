// Programs that tests need and a machine may lack: found on the PATH, or as Debian packages, unpacked into the cache
// beside the test bed's binaries (without root, and without changes to the machine).

import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { withLock } from './kube/bed/lock.ts';

const run = promisify(execFile);

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The first program with one of these names. */
export const onPath = (...names: readonly string[]): string | undefined =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((directory) => names.map((name) => join(directory, name)))
    .find(isExecutable);

export type Unpacked = { readonly root: string } | { readonly missing: string };

/** The packages, unpacked once under this name; or the reason why not. */
export async function unpacked(name: string, packages: readonly string[]): Promise<Unpacked> {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const root = join(cache, 'lapse', `${name}-${process.arch}`);
  mkdirSync(dirname(root), { recursive: true });
  try {
    await withLock(`${root}.lock`, async () => {
      if (!existsSync(root)) await unpack(root, packages);
    });
    return { root };
  } catch (error) {
    const [line] = (error as Error).message.split('\n');
    return { missing: `no ${name} on the PATH, and Debian's could not be fetched (${line})` };
  }
}

/** Installed packages are not fetched again: apt lists the missing ones. */
async function unpack(root: string, packages: readonly string[]): Promise<void> {
  const temporary = `${root}.${process.pid}`;
  mkdirSync(join(temporary, 'root'), { recursive: true });
  try {
    const names = await missingOf(packages);
    await run('apt-get', ['download', ...names], { cwd: temporary, maxBuffer: 1 << 26 });
    for (const file of readdirSync(temporary).filter((one) => one.endsWith('.deb')))
      await run('dpkg-deb', ['-x', join(temporary, file), join(temporary, 'root')]);
    renameSync(join(temporary, 'root'), root);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

async function missingOf(packages: readonly string[]): Promise<string[]> {
  const ask = () => run('apt-get', ['install', '--no-install-recommends', '-y', '--print-uris', ...packages]);
  // A machine without package lists does not know the packages yet; only root may update the lists.
  const { stdout } = await ask().catch(async () => {
    await run('apt-get', ['update']);
    return await ask();
  });
  return [...stdout.matchAll(/^'[^']+' ([^_\s]+)_\S+\.deb/gm)].map((match) => match[1]!);
}
