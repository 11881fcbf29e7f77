// docs/simulate.md shows what lapse simulate says about its example, letter by letter; docs/doctor.md names every check
// and every flag there is.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type ServerProcess, startServerProcess } from '../robustness/serverProcess.ts';
import { blocksOf } from './blocks.ts';

const root = join(import.meta.dirname, '../..');
const scratch = mkdtempSync(join(tmpdir(), 'lapse-docs-'));
let server: ServerProcess | undefined;
afterAll(async () => {
  await server?.kill();
  rmSync(scratch, { recursive: true, force: true });
});

const lapse = (line: string, ...more: string[]): string => {
  const [program, ...words] = line.trim().split(' ');
  expect(program).toBe('lapse');
  return execFileSync(join(root, 'bin/lapse'), [...words, ...more], { cwd: scratch, encoding: 'utf8' });
};

test('docs/simulate.md: the example says what is shown', () => {
  const blocks = blocksOf(join(root, 'docs/simulate.md'));
  for (const { saved, text } of blocks.filter(({ language }) => language === 'yaml'))
    writeFileSync(join(scratch, saved!), text);
  const [command] = blocks.filter(({ language }) => language === 'sh');
  const [shown] = blocks.filter(({ language }) => language === '');
  expect(lapse(command!.text)).toBe(shown!.text);
});

test('docs/doctor.md: its commands run, and its table has every check', async () => {
  server = await startServerProcess(join(scratch, 'data'), ['--store', 'memory']);
  const page = readFileSync(join(root, 'docs/doctor.md'), 'utf8');
  const [commands] = blocksOf(join(root, 'docs/doctor.md')).filter(({ language }) => language === 'sh');
  const checks = new Set<string>();
  for (const line of commands!.text.trim().split('\n')) {
    let out = '';
    try {
      out = lapse(line, '--kubeconfig', server.kubeconfig, ...(line.includes('json') ? [] : ['-o', 'json']));
    } catch (cause) {
      // Our kinds are not there: a problem, and so it says.
      const { status, stdout } = cause as { status: number; stdout: string };
      expect(status).toBe(1);
      out = stdout;
    }
    const { findings } = JSON.parse(out) as { findings: { check: string; level: string }[] };
    expect(findings.length).toBeGreaterThan(5);
    for (const { check } of findings) checks.add(check);
  }
  const named = [...page.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]!);
  expect([...checks].sort()).toEqual(named.sort());
});
