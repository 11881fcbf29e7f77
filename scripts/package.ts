// npm run package: the published form, as a directory and as a tarball. It differs from the repository: compiled
// JavaScript instead of sources, Node 24 demanded instead of carried, nothing that only developers need.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compile } from './build.ts';

const root = join(import.meta.dirname, '..');

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly imports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

const KEPT = ['name', 'version', 'description', 'keywords', 'license', 'type', 'bin'] as const;

/** What is published, from what is developed. Pure. */
export function publishedManifest(repository: Manifest): Record<string, unknown> {
  return {
    ...Object.fromEntries(
      KEPT.filter((field) => field in repository).map((name) => [name, repository[name]]),
    ),
    exports: Object.fromEntries(
      Object.entries(repository.exports).map(([face, source]) => [face, compiled(source)]),
    ),
    imports: Object.fromEntries(
      Object.entries(repository.imports).map(([name, source]) => [name, `${inDist(source)}.js`]),
    ),
    engines: { node: '>=24.12' },
    files: ['bin', 'dist', 'examples'],
    dependencies: repository.dependencies,
  };
}

const inDist = (source: string): string => source.replace('./src/', './dist/').replace(/\.ts$/, '');

function compiled(source: string): string | { types: string; default: string } {
  if (!source.endsWith('.ts')) return source;
  return { types: `${inDist(source)}.d.ts`, default: `${inDist(source)}.js` };
}

/** Writes the package to `directory`, which is emptied first. */
export function stage(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  compile(join(directory, 'dist'));
  // The package has one manifest, with the same map.
  rmSync(join(directory, 'dist/package.json'));
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(publishedManifest(manifest), null, 2)}\n`);
  for (const name of ['README.md', 'CHANGELOG.md', 'LICENSE', 'bin'])
    cpSync(join(root, name), join(directory, name), { recursive: true });
  for (const file of exampleFiles()) {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    cpSync(join(root, file), join(directory, file));
  }
}

/** What `lapse up` applies, and what explains it; tests of examples stay at home. */
function exampleFiles(): string[] {
  return readdirSync(join(root, 'examples'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(yaml|md)$/.test(file))
    .map((file) => join('examples', file));
}

/** Makes the tarball of a staged package beside it and answers its path. */
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
