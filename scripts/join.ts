// node scripts/join.ts FROM TO: joins compiled modules into few files. A server of the published program starts with 24
// files of Lapse instead of 445, in half the time. A public export shares its modules with the program: they are in
// separate files that both import, so there is never a second copy.

import { cpSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type Plugin, type RolldownOutput, rolldown } from 'rolldown';
import { publicExports } from './manifests.ts';

/** The folder of joined modules; one level deep, so that each can resolve its original location. */
const SHARED = 'shared';

/** Loaded by path: one is started in a thread, the others are embedded into a page unchanged. */
const WORKER = 'apiserver/src/store/sqliteWorker';
const PAGE = /^lapse\/src\/console\/browser\//;

/** Entry points: the program, and the public exports. */
function entries(): string[] {
  const modules = Object.values(publicExports()).filter((path) => path.endsWith('.ts'));
  return ['lapse/src/cli/main', WORKER, ...modules.map((path) => join('lapse', path.replace(/\.ts$/, '')))];
}

/** A module that reads files beside it still finds them there. */
const atHome = (from: string): Plugin => ({
  name: 'at-home',
  transform: (code, id) => {
    const home = `new URL(${JSON.stringify(`../${relative(from, id)}`)}, import.meta.url).href`;
    return code.includes('import.meta.url') ? code.replaceAll('import.meta.url', home) : null;
  },
});

export async function joinModules(from: string, to: string): Promise<void> {
  const build = await rolldown({
    cwd: from,
    input: Object.fromEntries(entries().map((name) => [name, join(from, `${name}.js`)])),
    platform: 'node',
    // Third-party packages stay where npm installs them.
    external: (id) => !/^[./]/.test(id),
    plugins: [atHome(from)],
  });
  const output = await build.write({
    dir: to,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: `${SHARED}/[name]-[hash].js`,
  });
  await build.close();
  checkHomes(output);
  copyRest(from, to);
}

function checkHomes({ output }: RolldownOutput): void {
  for (const file of output)
    if (file.type === 'chunk' && /\bimport\.meta\./.test(file.code) && dirname(file.fileName) !== SHARED)
      throw new Error(`${file.fileName} asks where it is, and is not in ${SHARED}`);
}

/** Declarations, data, and the modules of the page. */
function copyRest(from: string, to: string): void {
  for (const file of readdirSync(from, { recursive: true, encoding: 'utf8' }))
    if (/\.d\.ts$|\.json$/.test(file) || (PAGE.test(file) && file.endsWith('.js')))
      cpSync(join(from, file), join(to, file));
}

if (import.meta.main) {
  const [, , from, to] = process.argv;
  if (from === undefined || to === undefined) throw new Error('node scripts/join.ts FROM TO');
  rmSync(to, { recursive: true, force: true });
  await joinModules(from, to);
}
