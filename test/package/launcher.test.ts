// bin/lapse on machines with other Node versions: which are accepted, and the message if none is.

import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { publishedManifest } from '../../scripts/package.ts';

const root = join(import.meta.dirname, '../..');
const scratch = mkdtempSync(join(tmpdir(), 'lapse-launcher-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** A machine with this Node and nothing else. */
function machine(version: string | undefined): string {
  const bin = mkdtempSync(join(scratch, 'machine-'));
  for (const tool of ['dirname', 'readlink']) symlinkSync(`/usr/bin/${tool}`, join(bin, tool));
  if (version === undefined) return bin;
  writeFileSync(join(bin, 'node'), `#!/bin/sh\n[ "$1" = --version ] && echo ${version} || echo ran "$@"\n`);
  chmodSync(join(bin, 'node'), 0o755);
  return bin;
}

/** The script without a bundled Node: in a clone before npm ci, or as published. */
function place(what: 'clone' | 'package'): string {
  const directory = mkdtempSync(join(scratch, `${what}-`));
  mkdirSync(join(directory, what === 'clone' ? 'packages' : 'dist'));
  cpSync(join(root, 'bin'), join(directory, 'bin'), { recursive: true });
  return join(directory, 'bin/lapse');
}

test.each([
  ['package', 'v24.12.0', /^ran .*main\.js --version/, ''],
  ['package', 'v26.0.0', /^ran /, ''],
  [
    'package',
    'v24.11.1',
    /^$/,
    /needs Node 24\.12 or newer, found v24\.11\.1; install Node 24\.12 or newer\n$/,
  ],
  ['package', 'v20.19.0', /^$/, /found v20\.19\.0; install Node 24\.12 or newer\n$/],
  ['package', undefined, /^$/, /no Node found; install Node 24\.12 or newer\n$/],
  ['clone', 'v20.19.0', /^$/, /found v20\.19\.0; run npm ci in .*clone-\w+, .* or install Node 24\.12/],
] as const)('the %s on Node %s', (what, version, out, err) => {
  const env = { PATH: machine(version) };
  const { stdout, stderr, status } = spawnSync(place(what), ['--version'], { env, encoding: 'utf8' });
  expect(stdout).toMatch(out);
  if (err === '') expect(stderr).toBe('');
  else expect(stderr).toMatch(err);
  expect(status).toBe(err === '' ? 0 : 1);
});

test('accepts the versions that the package requires', () => {
  expect(publishedManifest().engines).toEqual({ node: '>=24.12' });
});
