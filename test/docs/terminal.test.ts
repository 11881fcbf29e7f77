import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Terminal } from './terminal.ts';

const scratch = mkdtempSync(join(tmpdir(), 'lapse-terminal-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const open = (name: string) =>
  new Terminal({
    directory: join(scratch, name),
    env: { PATH: process.env.PATH!, KUBECONFIG: 'desk' },
    lasting: [[/^lasts/, /ready/]],
    finding: /^finds/,
  });

test('exported and unset variables apply to the following commands', async () => {
  const terminal = open('environment');
  expect(await terminal.type('printf %s "$KUBECONFIG"')).toBe('desk');
  await terminal.type('export KUBECONFIG=$PWD/other GREETING="two words"');
  expect(await terminal.type('printf %s "$KUBECONFIG $GREETING"')).toBe(
    `${terminal.directory}/other two words`,
  );
  await terminal.type('unset KUBECONFIG');
  expect(await terminal.type('env')).not.toContain('KUBECONFIG');
});

test('a failing command fails, also in the middle of a pipe', async () => {
  const terminal = open('failures');
  await expect(terminal.type('false')).rejects.toThrow();
  await expect(terminal.type('false | true')).rejects.toThrow();
});

test('the directory looks like a clone', async () => {
  expect(await open('clone').type('bin/lapse --version && grep \'"start"\' package.json')).toMatch(
    /^\d+\.\d+\.\d+\n +"start": "bin\/lapse up"/,
  );
});
