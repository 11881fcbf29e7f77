// The first file that runs. Node strips the types of every source it loads; the compile cache keeps the results, which
// halves the time to the first answer from the second start on. It is code that will run, so it is kept where only its
// owner writes, and not, as Node would, in a directory for temporary files that whoever comes first may make.

import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { makeDirectory } from './directories.ts';

const { XDG_CACHE_HOME, HOME } = process.env;
const home = XDG_CACHE_HOME || HOME;
if (home && existsSync(home)) keepCompiled(join(XDG_CACHE_HOME || join(home, '.cache'), 'lapse', 'compiled'));
await import('./cli.ts');

/** Where nothing can be made, all is only slower. */
function keepCompiled(directory: string): void {
  try {
    makeDirectory(directory, 0o700);
    enableCompileCache(directory);
  } catch {}
}
