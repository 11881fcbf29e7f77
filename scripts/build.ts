// npm run build: compiles the packages to dist, which the published package runs: JavaScript in few files (join.ts), a
// declaration for each source, data. Imports of workspace packages become relative paths.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');
const PACKAGES = join(root, 'packages');

/** Data that the program reads, without test fixtures. */
const DATA = /^[^/]+\/src\/(.*\/)?data\/[^/]+\.json$/;

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

/** One file for each source, in the layout of packages. */
function compileModules(directory: string): void {
  run(join(root, 'node_modules/.bin/tsc'), '-p', join(root, 'tsconfig.build.json'), '--outDir', directory);
  for (const file of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(js|d\.ts)$/.test(file)) continue;
    const path = join(directory, file);
    writeFileSync(path, relativeImports(file, readFileSync(path, 'utf8')));
  }
  for (const file of readdirSync(PACKAGES, { recursive: true, encoding: 'utf8' }))
    if (DATA.test(file)) cpSync(join(PACKAGES, file), join(directory, file));
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }\n');
}

const IMPORT = /(\b(?:from|import)\s*\(?\s*)(['"])((?:@lapse\/|#)[\w./-]+)\2/g;

/** `file` (below packages) with paths of modules instead of their names. Pure. */
export function relativeImports(file: string, text: string): string {
  return text.replace(IMPORT, (_, before: string, quote: string, specifier: string) => {
    const path = relative(dirname(file), modulePath(file, specifier));
    return `${before}${quote}${path.startsWith('.') ? path : `./${path}`}.js${quote}`;
  });
}

/** `@lapse/kube/api/kind` is kube/src/api/kind; `#api/kind` is a module of the file's own package. */
function modulePath(file: string, specifier: string): string {
  const [name, ...rest] = specifier.startsWith('#')
    ? [file.split('/')[0]!, specifier.slice(1)]
    : specifier.slice('@lapse/'.length).split('/');
  return join(name!, 'src', ...rest);
}

if (import.meta.main) compile(join(root, 'dist'));
