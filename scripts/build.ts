// npm run build: compiles src to dist, what the published package runs: JavaScript in few files (join.ts), a declaration
// for each source, data. In declarations the layer imports (#api/…) stay as they are and are mapped by a package.json of
// dist's own.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');

/** Data that the program reads; what tests compare with is elsewhere. */
const DATA = /(^|\/)data\/[^/]+\.json$/;

/** Writes JavaScript, declarations and data files to `dist`, which is emptied first. */
export function compile(dist: string): void {
  const modules = mkdtempSync(join(tmpdir(), 'lapse-modules-'));
  try {
    compileModules(modules);
    run(join(import.meta.dirname, 'join.ts'), modules, dist);
  } finally {
    rmSync(modules, { recursive: true, force: true });
  }
}

const run = (script: string, ...args: string[]): void => {
  execFileSync(process.execPath, [script, ...args], { stdio: 'inherit' });
};

/** One file for each source, as it is laid out in src. */
function compileModules(directory: string): void {
  run(join(root, 'node_modules/.bin/tsc'), '-p', join(root, 'tsconfig.build.json'), '--outDir', directory);
  for (const entry of readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })) {
    const file = relative(join(root, 'src'), join(entry.parentPath, entry.name));
    if (!entry.isFile() || !DATA.test(file)) continue;
    cpSync(join(root, 'src', file), join(directory, file));
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
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

if (import.meta.main) compile(join(root, 'dist'));
