// npm run package: the published form, as a directory and as a tarball. It differs from the repository: compiled
// JavaScript instead of sources, Node 24 required instead of included, no development files, and pages without links to
// them.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compile } from './build.ts';
import { keepLiveLinks } from './links.ts';
import { externalDependencies, product, publicExports } from './manifests.ts';

const root = join(import.meta.dirname, '..');

const KEPT = ['name', 'version', 'description', 'keywords', 'license', 'type'] as const;

/** The manifest of the published package: that of the product, with the compiled files of all packages. */
export function publishedManifest(): Record<string, unknown> {
  const manifest = product();
  return {
    ...Object.fromEntries(KEPT.map((name) => [name, manifest[name]])),
    bin: { 'kubectl-lapse': 'bin/kubectl-lapse', lapse: 'bin/lapse' },
    exports: Object.fromEntries(
      Object.entries(publicExports()).map(([name, source]) => [name, compiled(source)]),
    ),
    engines: { node: '>=24.12' },
    files: ['bin', 'dist', 'docs', 'examples', 'CHANGELOG.md'],
    dependencies: externalDependencies(),
  };
}

const inDist = (source: string): string => source.replace('./src/', './dist/lapse/src/').replace(/\.ts$/, '');

function compiled(source: string): string | { types: string; default: string } {
  if (!source.endsWith('.ts')) return source;
  return { types: `${inDist(source)}.d.ts`, default: `${inDist(source)}.js` };
}

/** Writes the package to `directory`, which is emptied first. */
export function stage(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  compile(join(directory, 'dist'));
  // The package has one manifest.
  rmSync(join(directory, 'dist/package.json'));
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(publishedManifest(), null, 2)}\n`);
  for (const name of ['LICENSE', 'bin']) cpSync(join(root, name), join(directory, name), { recursive: true });
  for (const file of filesShipped()) {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    if (file.endsWith('.md')) writeFileSync(join(directory, file), publishedPage(file));
    else cpSync(join(root, file), join(directory, file));
  }
}

/** What `lapse up` applies, and its documentation; tests of examples are not published. */
function filesShipped(): string[] {
  const folders = ['docs', 'examples'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(yaml|md|svg)$/.test(file))
      .map((file) => join(folder, file)),
  );
  return ['README.md', 'CHANGELOG.md', ...folders.sort()];
}

export const pagesShipped = (): string[] => filesShipped().filter((file) => file.endsWith('.md'));

/** A file, or a folder with one in it. */
export const isShipped = (path: string): boolean =>
  ['LICENSE', ...filesShipped()].some((file) => file === path || file.startsWith(`${path}/`));

/** A page as it is published. */
export const publishedPage = (page: string): string =>
  keepLiveLinks(page, readFileSync(join(root, page), 'utf8'), isShipped);

/** Creates the tarball of a staged package beside it and returns its path. */
export function pack(directory: string): string {
  const beside = dirname(directory);
  const args = ['pack', directory, '--pack-destination', beside, '--json'];
  const [made] = JSON.parse(execFileSync('npm', args, { encoding: 'utf8', cwd: root })) as {
    filename: string;
  }[];
  const file = join(beside, made!.filename);
  if (!existsSync(file)) throw new Error(`npm pack made no ${file}`);
  return file;
}

if (import.meta.main) {
  const directory = process.argv[2] ?? join(root, 'dist/package');
  stage(directory);
  console.log(pack(directory));
}
