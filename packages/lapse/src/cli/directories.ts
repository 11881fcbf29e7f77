// Directories that a command needs and may have to make.

import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Step by step: where nothing can be made at all (`/proc/x`) Node's own recursion has no end, and no signal ends it.
 * Throws what the file system says.
 */
export function makeDirectory(path: string, mode?: number): void {
  if (existsSync(path)) {
    if (!statSync(path).isDirectory()) throw new Error(`${path} is a file, not a directory`);
    return;
  }
  const parent = dirname(path);
  if (parent !== path) makeDirectory(parent, mode);
  try {
    mkdirSync(path, mode === undefined ? {} : { mode });
  } catch (cause) {
    // Somebody else was quicker.
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
  }
}
