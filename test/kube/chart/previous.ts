// The chart of the previous commit, for realistic upgrades and downgrades.

import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export type Previous =
  | { readonly chart: string }
  /** Why it does not exist. */
  | { readonly none: string };

export interface PreviousOptions {
  readonly repository: string;
  /** The target directory. */
  readonly directory: string;
  /** In CI, where the reason of a skipped step goes unread, the step must not be skipped. */
  readonly isCI: boolean;
}

/** Throws in CI if the previous commit should exist and cannot be read. A shallow clone is intended. */
export async function previousChart({ repository, directory, isCI }: PreviousOptions): Promise<Previous> {
  const git = async (...args: string[]) => (await run('git', ['-C', repository, ...args])).stdout;
  const lacking = (none: string): Previous => {
    if (isCI) throw new Error(`${none}; upgrades from the commit before cannot be tried`);
    return { none };
  };
  const head = await git('cat-file', 'commit', 'HEAD').catch(() => undefined);
  if (head === undefined) return lacking('this is no repository of git');
  // A shallow clone hides parents from every command except this one.
  const parent = /^parent ([0-9a-f]+)$/m.exec(head)?.[1];
  if (parent === undefined) return { none: 'this is the first commit' };
  const listed = await git('ls-tree', parent, 'config/chart').catch(() => undefined);
  if (listed === undefined) {
    const short = parent.slice(0, 8);
    if ((await git('rev-parse', '--is-shallow-repository')).trim() === 'true')
      return { none: `a shallow clone has no ${short}, the commit before; git fetch --deepen=1 brings it` };
    return lacking(`the commit before, ${short}, cannot be read`);
  }
  if (listed === '') return { none: 'the commit before has no chart' };
  mkdirSync(directory, { recursive: true });
  const archive = join(directory, 'previous.tar');
  await git('archive', '-o', archive, parent, 'config/chart');
  await run('tar', ['-xf', archive, '-C', directory]);
  return { chart: join(directory, 'config/chart') };
}
