// Import cycles between the files of a package, type imports included.

import { dirname, join, normalize } from 'node:path';
import { importsOf, placeOf } from './rules.ts';

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** The files on import cycles and on paths between two cycles. Empty when the files import each other in one direction. */
export function filesOnCycles(files: readonly SourceFile[]): string[] {
  const imports = new Map(files.map(({ path, text }) => [path, targetsOf(path, text)]));
  for (;;) {
    const imported = new Set([...imports.values()].flat());
    const outside = [...imports].filter(
      ([path, targets]) => !imported.has(path) || !targets.some((target) => imports.has(target)),
    );
    if (outside.length === 0) return [...imports.keys()].sort();
    for (const [path] of outside) imports.delete(path);
  }
}

const targetsOf = (path: string, text: string): string[] =>
  importsOf(text).flatMap((specifier) => {
    if (specifier.startsWith('#')) return [`packages/${placeOf(path).name}/src/${specifier.slice(1)}.ts`];
    return specifier.startsWith('.') ? [normalize(join(dirname(path), specifier))] : [];
  });
