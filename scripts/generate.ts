// Regenerates every data file that is derived from Kubernetes: `npm run generate` starts the test bed, reads its
// kube-apiserver and its Go sources, and rewrites packages/apiserver/src/schema/data and packages/apiserver/src/data.
// With a directory as argument the files are written there instead (for the drift test).

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startBed } from '../test/kube/bed/bed.ts';
import { generateBootstrap } from './generate/bootstrap.ts';
import { generateColumns } from './generate/columns.ts';
import { generateDefaults } from './generate/defaults.ts';
import { stringifyByLine } from './generate/json.ts';
import { generateResources } from './generate/resources.ts';
import { generateTypes } from './generate/types.ts';

const REPOSITORY = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Writes all generated files below `root` and returns their paths relative to it. */
export async function generate(root: string): Promise<string[]> {
  const written: string[] = [];
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    written.push(path);
  };
  const bed = await startBed();
  try {
    const types = await generateTypes(bed);
    const served = await generateResources(bed, types);
    write('packages/apiserver/src/schema/data/types.json', `${stringifyByLine(types, 2)}\n`);
    write('packages/apiserver/src/data/resources.json', `${stringifyByLine(served, 2)}\n`);
    const columns = await generateColumns(bed, served.resources);
    write('packages/apiserver/src/data/columns.json', `${stringifyByLine(columns, 2)}\n`);
    const objects = await generateBootstrap(bed, served.resources);
    write('packages/apiserver/src/data/bootstrap.json', `${stringifyByLine(objects, 2)}\n`);
    const { table, page } = await generateDefaults(
      join(root, 'packages/apiserver/src/schema/data/types.json'),
    );
    write('packages/apiserver/src/schema/data/defaults.json', `${stringifyByLine(table, 1)}\n`);
    write('test/kube/bed/gen/conditional-defaults.md', page);
  } finally {
    await bed.stop();
  }
  return written;
}

if (import.meta.main) {
  for (const path of await generate(process.argv[2] ?? REPOSITORY)) console.log(path);
}
