// The command line as a person meets it: what it prints, what it refuses and how. cli.soak.ts asks more.

import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const lapse = join(import.meta.dirname, '../../bin/lapse');
const scratch = mkdtempSync(join(tmpdir(), 'lapse-cli-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const run = (...args: string[]) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(lapse, args, { timeout: 15_000 }, (cause, out, err) =>
      resolve({ code: cause ? Number(cause.code ?? 1) : 0, out, err }),
    );
  });

test('a mistake is answered in words', async () => {
  const { code, err } = await run('dance');
  expect(err).toMatch(/unknown command 'dance'/);
  expect(code).toBe(1);
  expect(err).not.toMatch(/^\s+at /m);
});

test('--help shows the commands and examples', async () => {
  expect((await run('--help')).out).toMatch(/up .*\n.*server/s);
  expect((await run('server', '--help')).out).toMatch(/Example:/);
});

test('lapse up shows what runs, the kubectl line and where the data is', async () => {
  const data = join(scratch, 'up');
  const child = spawn(lapse, ['up', '--data', data, '--no-examples'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let out = '';
  const shown = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk) => {
      out += chunk;
      if (out.includes('Ctrl-C')) resolve();
    });
  });
  await shown;
  expect(out).toMatch(/serving {6}https:\/\/127\.0\.0\.1:\d+/);
  expect(out).toMatch(/kubectl --kubeconfig \S+ get namespaces/);
  expect(out).toContain(data);
  child.kill('SIGINT');
  expect(await exited).toBe(0);
  expect(out).toMatch(/stopped at revision \d+; the data is kept/);
});
