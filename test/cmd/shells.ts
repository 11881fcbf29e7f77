// Real shells for tests: one on the PATH, or Debian's. If neither works, the reason.

import { globSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { isExecutable, onPath, unpacked } from '../debian.ts';

export type Shell = 'bash' | 'zsh' | 'fish';

export interface FoundShell {
  readonly path: string;
  /** Where the packages are unpacked; undefined for an installed shell. */
  readonly root?: string;
  /** Environment needed to start it. */
  readonly env: Readonly<Record<string, string>>;
}

export type Found = { readonly shell: FoundShell } | { readonly missing: string };

export async function findShell(name: Shell): Promise<Found> {
  const installed = onPath(name);
  if (installed !== undefined) return { shell: { path: installed, env: {} } };
  const found = await unpacked(name, [name]);
  return 'missing' in found ? found : unpackedIn(found.root, name);
}

function unpackedIn(root: string, name: Shell): Found {
  const path = ['bin', 'usr/bin'].map((part) => join(root, part, name)).find(isExecutable);
  if (path === undefined) return { missing: `Debian's packages have no ${name}` };
  const libraries = globSync('{usr/,}lib/*/*.so*', { cwd: root }).map((file) => join(root, dirname(file)));
  return { shell: { path, root, env: { LD_LIBRARY_PATH: [...new Set(libraries)].join(delimiter) } } };
}
