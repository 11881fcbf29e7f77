// The entry point. Node.js strips the types of every source it loads. The compile cache stores the results, which
// halves the startup time from the second start on. The cache contains code, so it is in a directory that only its
// owner can write, and not in the shared temporary directory that Node.js uses by default.

import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { makeDirectory } from './directories.ts';

const { XDG_CACHE_HOME, HOME } = process.env;
const home = XDG_CACHE_HOME || HOME;
if (home && existsSync(home)) keepCompiled(join(XDG_CACHE_HOME || join(home, '.cache'), 'lapse', 'compiled'));
await import('./cli.ts');

/** If the directory cannot be created, only the startup is slower. */
function keepCompiled(directory: string): void {
  try {
    makeDirectory(directory, 0o700);
    enableCompileCache(directory);
  } catch {}
}
