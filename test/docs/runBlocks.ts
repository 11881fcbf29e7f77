// `runBlocks.ts FILE…`: loads files as modules of somebody else, one after the other.

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { offerFaces } from '#cmd/faces';

offerFaces();
for (const file of process.argv.slice(2)) await import(pathToFileURL(resolve(file)).href);
process.stdout.write('all blocks ran\n');
