// The public exports are listed twice: for Node and TypeScript (package.json), and for modules that a process loads
// (publicModules.ts). Both lists and the published package are equal.

import { createServer as own } from '@lapse/apiserver/server';
import { createServer } from 'lapse/apiserver';
import { PUBLIC_MODULES } from 'lapse/manager/publicModules';
import { expect, test } from 'vitest';
import { product, publicExports } from '../../scripts/manifests.ts';
import { publishedManifest } from '../../scripts/package.ts';

test('inside the repository a public export resolves to its source, and there is one copy of it', () => {
  expect(createServer).toBe(own);
});

test('package.json and the hook of --module offer the same modules', () => {
  const { './package.json': manifest, ...exported } = publicExports();
  expect(PUBLIC_MODULES.map((name) => name.replace(/^lapse/, '.'))).toEqual(Object.keys(exported));
  expect(manifest).toBe('./package.json');
});

test('the published package is compiled, has types, requires Node 24 and does not include it', () => {
  const published = publishedManifest();
  expect(published).toMatchObject({
    name: 'lapse',
    version: product().version,
    bin: { lapse: 'bin/lapse' },
    exports: {
      './apiserver': {
        types: './dist/lapse/src/public/apiserver.d.ts',
        default: './dist/lapse/src/public/apiserver.js',
      },
      './package.json': './package.json',
    },
    engines: { node: '>=24.12' },
    dependencies: { undici: expect.any(String), yaml: expect.any(String) },
  });
  for (const field of ['scripts', 'devDependencies', 'optionalDependencies', 'private', 'imports'])
    expect(published, field).not.toHaveProperty(field);
  expect(JSON.stringify(published)).not.toMatch(/@lapse|\.ts"(?<!\.d\.ts")/);
});
