// The published package as a new user gets it: packed, installed into an empty project from its tarball, imported with
// types, started. Needs the npm registry for its dependencies, so it runs where Go modules are fetched as well.

import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pack, stage } from '../../scripts/package.ts';

const root = join(import.meta.dirname, '../..');
const scratch = mkdtempSync(join(tmpdir(), 'lapse-package-'));
const project = join(scratch, 'project');
const PUBLINT = 'publint@0.3.25';
let tarball: string;

// The user has Node 24.
const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` };
const execute = promisify(execFile);
const run = async (command: string, ...args: string[]): Promise<string> => {
  const { stdout } = await execute(command, args, { cwd: project, env, encoding: 'utf8' }).catch(
    (cause: Error & { stdout?: string; stderr?: string }) => {
      throw new Error(`${command} ${args.join(' ')}\n${cause.stdout}\n${cause.stderr}`);
    },
  );
  return stdout;
};
const write = (file: string, content: string | object) =>
  writeFileSync(join(project, file), typeof content === 'string' ? content : JSON.stringify(content));

beforeAll(async () => {
  stage(join(scratch, 'package'));
  tarball = pack(join(scratch, 'package'));
  mkdirSync(project);
  write('package.json', { name: 'a-stranger', type: 'module', private: true });
  await run('npm', 'install', '--no-audit', '--no-fund', tarball, PUBLINT);
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

test('publint reports nothing', async () => {
  expect(await run('npx', 'publint', 'run', tarball, '--strict')).toContain('All good!');
});

test('contains neither sources nor tests nor Node', () => {
  const installed = join(project, 'node_modules/lapse');
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
  const strange = files.filter((file) =>
    /(?<!\.d)\.ts$|\.(test|soak|kube|check)\.|testkit|fixture/i.test(file),
  );
  expect(strange).toEqual([]);
  expect(readdirSync(join(project, 'node_modules')).filter((name) => name.startsWith('node-'))).toEqual([]);
});

const PROGRAM = `
import { type ApiServer, createServer, listen } from 'lapse/apiserver';
import type { Family } from 'lapse/family';
import { GuardedDeletes } from 'lapse/lifecycle';
import { ConfigMap, defineController, settled } from 'lapse/runtime';
import { simulate } from 'lapse/sim';
import { rehearse } from 'lapse/testing';

const server: ApiServer = await createServer();
const { status } = await server.handle({ method: 'GET', path: '/version', headers: {} });
// @ts-expect-error a status is a number: there are types, and they are not any
const wrong: string = status;
const listener = await listen(server.handle);
const answer = await fetch(listener.url + '/api/v1/namespaces/default');
await listener.close();
await server.close();
const controller = defineController({ name: 'nothing', for: ConfigMap, reconcile: () => settled() });
const simulation = await rehearse(controller);
await simulation.close();
export type Unused = Family | typeof wrong;
console.log([status, answer.status, typeof GuardedDeletes, typeof simulate].join(' '));
`;

test('every public export can be imported, with types', async () => {
  write('program.ts', PROGRAM);
  mkdirSync(join(project, 'node_modules/@types'), { recursive: true });
  for (const name of ['@types/node', 'undici-types'])
    symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name));
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2024',
    strict: true,
    noEmit: true,
    types: ['node'],
  };
  write('tsconfig.json', { compilerOptions, files: ['program.ts'] });
  await run(process.execPath, join(root, 'node_modules/.bin/tsc'), '-p', '.');
  expect(await run('node', 'program.ts')).toBe('200 200 function function\n');
});

test('npx lapse prints its version and its CRDs', async () => {
  expect((await run('npx', 'lapse', '--version')).trim()).toMatch(/^\d+\.\d+\.\d+$/);
  expect(await run('npx', 'lapse', 'crds')).toContain('kind: CustomResourceDefinition');
});

test('npx lapse up starts, with the examples, and stops on a signal', async () => {
  cpSync(join(root, 'examples/00-first-controller/expiring-config-maps.ts'), join(project, 'own.ts'));
  const child = spawn('npx', ['lapse', 'up', '--data', 'data', '--port', '0', '--module', './own.ts'], {
    cwd: project,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  let said = '';
  await new Promise<void>((resolve, reject) => {
    void ended.then((code) => reject(new Error(`ended with ${code}: ${said}`)));
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        if (/serving +https:/.test(said) && /waiting +until/.test(said)) resolve();
      });
  });
  // A page contains a program that is read from files that only the compiled package has.
  const page = await run('npx', 'lapse', 'plan', '--kubeconfig', 'data/kubeconfig', '--output', 'html');
  expect(page).toMatch(/<script.*<\/html>/s);
  // npx does not forward signals, so the whole group is signalled.
  process.kill(-child.pid!, 'SIGINT');
  await ended;
  expect(said).toContain('ttl-after-finished');
  // A controller of the user, on the runtime of the process that loads it.
  expect(said).toMatch(/^ +controllers [^:]*, own$/m);
});
