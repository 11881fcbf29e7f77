// node scripts/bundle.ts DIR: the contents of the image as a plain directory: the published package and its run-time
// dependencies, exactly those of the lock file. The same sources give the same bytes.

import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stage } from './package.ts';

const root = join(import.meta.dirname, '..');

interface Locked {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly peer?: boolean;
  /** A package of the workspace. */
  readonly link?: boolean;
}

/** Paths of the packages that are needed at run time, relative to the repository. Pure. */
export function neededAtRunTime(packages: Readonly<Record<string, Locked>>): string[] {
  return Object.entries(packages)
    .filter(([path]) => path.startsWith('node_modules/'))
    .filter(([, { dev, optional, peer, link }]) => !dev && !optional && !peer && !link)
    .map(([path]) => path)
    .sort();
}

/** Writes the bundle to `directory`, which is emptied first. */
export function bundle(directory: string): void {
  stage(directory);
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  for (const path of neededAtRunTime(packages)) {
    if (!existsSync(join(root, path))) throw new Error(`${path} is not installed: npm ci`);
    cpSync(join(root, path), join(directory, path), {
      recursive: true,
      filter: (from) => !from.slice(join(root, path).length).includes('/node_modules/'),
    });
  }
}

if (import.meta.main) {
  const [, , directory] = process.argv;
  if (directory === undefined) throw new Error('node scripts/bundle.ts DIR');
  bundle(directory);
}
