// What others may import is said three times: to Node and TypeScript in this repository (package.json), to the modules a
// process loads (faces.ts), and in what is published. All three mean the same.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer } from 'lapse/apiserver';
import { expect, test } from 'vitest';
import { createServer as own } from '#apiserver/server';
import { FACES } from '#cmd/faces';
import { publishedManifest } from '../../scripts/package.ts';

const repository = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
const faces: Record<string, string> = repository.exports;

test('inside the repository a face leads to its source, and there is one copy of it', () => {
  expect(createServer).toBe(own);
});

test('package.json and the hook of --module offer the same faces', () => {
  const offered = Object.entries(FACES).map(([name, target]) => {
    const [layer, path] = target.slice(1).split('/');
    return [name.replace(/^lapse/, '.'), `./src/${layer}/${path}.ts`];
  });
  const { './package.json': manifest, ...exported } = faces;
  expect(Object.fromEntries(offered)).toEqual(exported);
  expect(manifest).toBe('./package.json');
});

test('what is published is compiled, has types, demands Node 24 and carries none', () => {
  const published = publishedManifest(repository);
  expect(published).toMatchObject({
    name: 'lapse',
    version: repository.version,
    bin: { lapse: 'bin/lapse' },
    exports: {
      './apiserver': { types: './dist/apiserver/library.d.ts', default: './dist/apiserver/library.js' },
      './package.json': './package.json',
    },
    imports: { '#base/*': './dist/base/*.js' },
    engines: { node: '>=24.12' },
    dependencies: repository.dependencies,
  });
  for (const field of ['scripts', 'devDependencies', 'optionalDependencies', 'private'])
    expect(published, field).not.toHaveProperty(field);
  expect(JSON.stringify(published)).not.toContain('/src/');
});
