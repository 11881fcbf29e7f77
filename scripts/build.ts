// npm run build: compiles src to dist, what the published package runs. The layer imports (#api/…) stay as they are and
// are mapped by a package.json of dist's own.

import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');

/** Data that the program reads; what tests compare with is elsewhere. */
const DATA = /(^|\/)data\/[^/]+\.json$/;

/** Writes JavaScript, declarations and data files to `dist`, which is emptied first. */
export function compile(dist: string): void {
  rmSync(dist, { recursive: true, force: true });
  const project = ['-p', join(root, 'tsconfig.build.json'), '--outDir', dist];
  execFileSync(process.execPath, [join(root, 'node_modules/.bin/tsc'), ...project], { stdio: 'inherit' });
  for (const entry of readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })) {
    const file = relative(join(root, 'src'), join(entry.parentPath, entry.name));
    if (!entry.isFile() || !DATA.test(file)) continue;
    cpSync(join(root, 'src', file), join(dist, file));
  }
  const { imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    imports: Record<string, string>;
  };
  const mapped = Object.fromEntries(
    Object.entries(imports).map(([name, path]) => [
      name,
      path.replace('./src/', './').replace(/\.ts$/, '.js'),
    ]),
  );
  const manifest = { type: 'module', imports: mapped };
  writeFileSync(join(dist, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

if (import.meta.main) compile(join(root, 'dist'));
