// The package.json files of the workspace.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

export const manifestOf = (name: string): Manifest =>
  JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as Manifest;

/** The manifest of the product. */
export const product = (): Manifest => manifestOf('lapse');

/** What users of the published package may import, without the pattern that tests use. */
export function publicExports(): Record<string, string> {
  return Object.fromEntries(Object.entries(product().exports).filter(([name]) => !name.includes('*')));
}

/** The third-party dependencies of the packages, each in one version. */
export function externalDependencies(): Record<string, string> {
  const all = readdirSync(join(root, 'packages')).flatMap((name) =>
    Object.entries(manifestOf(name).dependencies),
  );
  const external = all.filter(([name]) => !name.startsWith('@lapse/'));
  return Object.fromEntries(external.sort(([a], [b]) => (a < b ? -1 : 1)));
}
