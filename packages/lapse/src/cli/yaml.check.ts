// All YAML is written by yaml.ts: direct calls of the yaml package may print values that kubectl reads differently.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../../..');

/** Allowed files, and why. */
const MAY: Readonly<Record<string, string>> = {
  'packages/lapse/src/cli/yaml.ts': 'the writer itself',
  'packages/apiserver/src/http/respond.ts': 'answers with the keys and quotes of a Go server',
  'packages/kube/src/client/kubeconfigWrite.ts': 'a layer below; addresses, names of ours and base64',
};

const WRITES = /import\s*\{[^}]*\bstringify\b[^}]*\}\s*from 'yaml'/;

const productOf = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => join(folder, file))
    .filter((file) => /\.ts$/.test(file) && !/\.(test|check|soak|kube|wire)\.ts$|testkit/.test(file));

test('no other file writes YAML', () => {
  const writers = ['packages', 'scripts']
    .flatMap(productOf)
    .filter((file) => WRITES.test(readFileSync(join(root, file), 'utf8')));
  expect(writers.filter((file) => !Object.hasOwn(MAY, file))).toEqual([]);
});
