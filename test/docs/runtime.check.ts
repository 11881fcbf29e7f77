// Runs every block of docs/tasks/write-a-controller.md. Programs are in a separate directory, as a reader would keep them; commands run
// against an API server, until their controllers have started.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LapseProcess } from '../cmd/lapseProcess.ts';
import { type ServerProcess, startServerProcess } from '../robustness/serverProcess.ts';
import { blocksOf } from './blocks.ts';

const root = join(import.meta.dirname, '../..');
const blocks = blocksOf(join(root, 'docs/tasks/write-a-controller.md'));
const programs = blocks.filter(({ language }) => language === 'ts');
const commands = blocks
  .filter(({ language }) => language === 'sh')
  .flatMap(({ text }) => text.split('\n').filter((line) => line !== ''));
const scratch = mkdtempSync(join(tmpdir(), 'lapse-docs-'));
const own = join(scratch, 'own');
let server: ServerProcess;

beforeAll(async () => {
  mkdirSync(own);
  for (const { file, text } of programs) writeFileSync(join(own, file!), text);
  for (const { text } of blocks.filter(({ language }) => language === 'yaml'))
    writeFileSync(join(own, 'lapse.yaml'), text);
  server = await startServerProcess(join(scratch, 'data'), ['--store', 'memory']);
});
afterAll(async () => {
  await server?.kill();
  rmSync(scratch, { recursive: true, force: true });
});

test('every block on the page is tested', () => {
  const languages = new Set(blocks.map(({ language }) => language));
  expect([...languages].sort()).toEqual(['sh', 'ts', 'yaml']);
  expect(programs.every(({ file }) => file !== undefined)).toBe(true);
});

test('every program loads, and the test in it passes', () => {
  const faces = pathToFileURL(join(root, 'packages/lapse/src/manager/publicModules.ts')).href;
  const imports = programs.map(
    ({ file }) => `await import(${JSON.stringify(pathToFileURL(join(own, file!)).href)});`,
  );
  const code = `import { resolvePublicModules } from ${JSON.stringify(faces)}; resolvePublicModules(); ${imports.join(' ')}`;
  const args = ['--input-type=module', '--eval', `${code} console.log('all blocks ran');`];
  expect(execFileSync(process.execPath, args, { cwd: own, encoding: 'utf8' })).toContain('all blocks ran');
});

test.each(commands)('%s', async (command) => {
  const [program, ...args] = command.split(' ');
  expect(program).toBe('lapse');
  const env = {
    KUBECONFIG: server.kubeconfig,
    LAPSE_METRICS_BIND_ADDRESS: '127.0.0.1:0',
    LAPSE_VERBOSITY: 'info',
  };
  const lapse = new LapseProcess(args, env, own);
  await lapse.says(/controller started/);
  expect(await lapse.end('SIGINT')).toBe(0);
});
