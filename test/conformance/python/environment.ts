// Python with the official client, in a virtual environment in the user's cache, created if it does not exist.

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { withLock } from '../../kube/bed/lock.ts';

const CLIENT = 'kubernetes==34.1.0';
const run = promisify(execFile);

export type Python =
  | { readonly kind: 'ready'; run(script: string, ...args: string[]): Promise<string> }
  | { readonly kind: 'missing'; readonly why: string };

/** The reason why it is missing: no Python, no venv support, or no access to the package. */
export async function ensurePython(): Promise<Python> {
  try {
    const binary = await ensureEnvironment();
    return {
      kind: 'ready',
      run: async (script, ...args) =>
        (await run(binary, [script, ...args], { maxBuffer: 1 << 26, timeout: 120_000 })).stdout,
    };
  } catch (cause) {
    const { code, stderr = '', message } = cause as NodeJS.ErrnoException & { stderr?: string };
    const said = stderr.trim().split('\n').at(-1) || message;
    return { kind: 'missing', why: code === 'ENOENT' ? 'there is no python3' : said };
  }
}

async function ensureEnvironment(): Promise<string> {
  const { stdout } = await run('python3', ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])']);
  const base = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const directory = join(base, 'lapse', `python${stdout.trim()}-${CLIENT.replace('==', '-')}`);
  // Written last: an environment without this file is incomplete.
  const done = join(directory, 'complete');
  if (!existsSync(done)) {
    mkdirSync(dirname(directory), { recursive: true });
    await withLock(`${directory}.lock`, async () => {
      if (!existsSync(done)) await make(directory, done);
    });
  }
  return join(directory, 'bin', 'python');
}

async function make(directory: string, done: string): Promise<void> {
  const failed = `${directory}.failed`;
  rmSync(directory, { recursive: true, force: true });
  try {
    await run('python3', ['-m', 'venv', directory]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', CLIENT];
    await run(join(directory, 'bin', 'python'), pip, { maxBuffer: 1 << 26 });
    writeFileSync(done, '');
  } catch (cause) {
    rmSync(failed, { recursive: true, force: true });
    if (existsSync(directory)) renameSync(directory, failed);
    throw cause;
  }
}
