// docs/tasks/doctor.md names every check: its commands are run, and their checks are compared with the table.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
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

/** The CRDs of Lapse are missing, which is reported as a problem. */
function findingsOf(line: string, kubeconfig: string): { check: string }[] {
  const [, ...words] = line.split(' ');
  const args = [...words, '--kubeconfig', kubeconfig, ...(line.includes('json') ? [] : ['-o', 'json'])];
  try {
    return JSON.parse(execFileSync(join(root, 'bin/lapse'), args, { encoding: 'utf8' })).findings;
  } catch (cause) {
    const { status, stdout } = cause as { status: number; stdout: string };
    expect(status).toBe(1);
    return JSON.parse(stdout).findings;
  }
}

test('docs/tasks/doctor.md: its table has every check', async () => {
  server = await startServerProcess(join(scratch, 'data'), ['--store', 'memory']);
  const [commands] = blocksOf(join(root, 'docs/tasks/doctor.md')).filter(({ language }) => language === 'sh');
  const checks = new Set<string>();
  for (const line of commands!.text.trim().split('\n')) {
    const findings = findingsOf(line, server.kubeconfig);
    expect(findings.length).toBeGreaterThan(5);
    for (const { check } of findings) checks.add(check);
  }
  const page = readFileSync(join(root, 'docs/tasks/doctor.md'), 'utf8');
  const named = [...page.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]!);
  expect([...checks].sort()).toEqual(named.sort());
});
