import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renderKubeconfig } from '@lapse/kube/client/kubeconfigWrite';
import { afterAll, describe, expect, test } from 'vitest';
import { ODD_TEXTS, runQuietly, writeOddFile } from './mistakes.ts';

const scratch = mkdtempSync(join(tmpdir(), 'lapse-mistakes-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const none = join(scratch, 'none.yaml');
const empty = join(scratch, 'empty.yaml');
writeFileSync(empty, '');

const OURS = /a bug in lapse/;

const SAMPLE = [
  'an alias bomb',
  'deep nesting',
  'labels that are numbers',
  'a time that is none',
  'a wrong type',
  'a policy with types mixed up',
  'a definition that is none',
];

test.each(SAMPLE)('a file with %s is refused with its file name', async (name) => {
  const path = writeOddFile(scratch, name);
  const { code, said } = await runQuietly(['plan', path]);
  expect(said).toMatch(/\.yaml: \S.*$/);
  expect(said.startsWith(path)).toBe(true);
  expect(code).toBe(2);
});

test('runQuietly returns the message and the exit code', async () => {
  const { said, code } = await runQuietly(['simulate', '--for', '1h', none]);
  expect({ said, code }).toEqual({ said: `${none}: no such file or directory`, code: 2 });
});

describe('unusual values for every argument', () => {
  const rows = ODD_TEXTS.flatMap((text): string[][] => [
    ['explain', `job/${text}`, '-f', none],
    ['explain', text, '-f', none],
    ['explain', text, text, '-f', none],
    ['explain', 'job/a', '-n', text, '-f', none],
    ['plan', '-n', text, none],
    ['plan', `--for=${text}`, none],
    ['plan', `--controllers=${text}`, none],
    ['plan', `--feature-gates=${text}`, none],
    ['plan', `--config=${text}`, none],
    ['simulate', `--at=${text}`, none],
    ['simulate', `--seed=${text}`, none],
    ['simulate', `--with=${text}`, none],
  ]);
  test.each(rows.map((row) => [JSON.stringify(row).slice(0, 80), row] as const))('%s', async (_, row) => {
    const { code, said } = await runQuietly(row);
    expect(said).not.toMatch(OURS);
    expect(code).toBe(2);
  });
});

test.each([
  ['plan', '--kubeconfig'],
  ['explain', 'job/a', '--kubeconfig'],
  ['simulate', '--kubeconfig'],
])('no server answers: %s', async (...args) => {
  const nowhere = join(scratch, 'nowhere.yaml');
  writeFileSync(nowhere, renderKubeconfig({ server: 'https://127.0.0.1:1', token: 't', name: 'n' }));
  const { code, said } = await runQuietly([...args, nowhere]);
  expect(said).toMatch(/ECONNREFUSED.*; check that the API server is running/);
  expect(code).toBe(1);
});

test.each([
  ['', /--namespace "" cannot be a namespace: .*variable/],
  ['..', /cannot be a namespace/],
  ['a/b', /cannot be a namespace/],
  ['A b', /cannot be a namespace/],
  ['x'.repeat(64), /cannot be a namespace/],
])('-n %j is refused before anything is read', async (namespace, message) => {
  for (const args of [
    ['plan', '-n', namespace, empty],
    ['explain', 'job/a', '-n', namespace, '-f', empty],
  ]) {
    const { code, said } = await runQuietly(args);
    expect(said).toMatch(message);
    expect(code).toBe(2);
  }
});
