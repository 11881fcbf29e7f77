// Creates directories for commands.

import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates parents one by one: where nothing can be created (`/proc/x`), the recursive mkdir of Node.js never
 * returns and ignores signals. Throws the error of the file system.
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
    // Another process created it first.
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
  }
}
