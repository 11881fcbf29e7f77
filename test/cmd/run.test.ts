// `lapse run` as a process: a controller of somebody else against an API server, from start to SIGTERM.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type ServerProcess, startServerProcess } from '../robustness/serverProcess.ts';
import { LapseProcess } from './lapseProcess.ts';

const example = join(import.meta.dirname, '../../examples/00-first-controller/expiring-config-maps.ts');
const scratch = mkdtempSync(join(tmpdir(), 'lapse-run-'));
const running: LapseProcess[] = [];
let server: ServerProcess;

beforeAll(async () => {
  server = await startServerProcess(join(scratch, 'data'), ['--store', 'memory']);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.end('SIGKILL')));
});
afterAll(async () => {
  await server.kill();
  rmSync(scratch, { recursive: true, force: true });
});

function lapse(...args: string[]): LapseProcess {
  const made = new LapseProcess(['run', '--metrics-bind-address', '127.0.0.1:0', ...args], {
    KUBECONFIG: server.kubeconfig,
  });
  running.push(made);
  return made;
}

const module = (name: string, text: string): string => {
  const file = join(scratch, name);
  writeFileSync(file, text);
  return file;
};

const read = (url: string) =>
  new Promise<string>((resolve, reject) => {
    get(url, (response) => {
      let body = `${response.statusCode} `;
      response.on('data', (chunk) => (body += chunk));
      response.on('end', () => resolve(body));
    }).on('error', reject);
  });

async function untilDeleted(path: string): Promise<void> {
  for await (const { type } of server.watch(path)) if (type === 'DELETED') return;
}

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

test('the first controller, copied to a project of its own, ends what should end', async () => {
  const text = readFileSync(example, 'utf8')
    .replace('#controllers/family', 'lapse/family')
    .replace('#lifecycle/library', 'lapse/lifecycle')
    .replace('#runtime/library', 'lapse/runtime');
  expect(text).not.toContain("'#");
  const annotations = { 'example.com/expires-after': '1s' };
  await server.call('POST', CONFIG_MAPS, { metadata: { name: 'short', annotations } });
  await server.call('POST', CONFIG_MAPS, { metadata: { name: 'stays' } });
  // Looked at from before it starts: the first thing it does may be the deletion.
  const deleted = untilDeleted(`${CONFIG_MAPS}?watch=true&fieldSelector=metadata.name=short`);
  const process = lapse('--module', module('mine.ts', text));
  const [, port] = await process.says(/"serving \/healthz.*"port":(\d+)/);
  await process.says(/"controller started"/);
  await deleted;
  expect((await server.call('GET', `${CONFIG_MAPS}/stays`)).status).toBe(200);
  expect(await read(`http://127.0.0.1:${port}/readyz`)).toMatch(/^200 ok/);
  const metrics = await read(`http://127.0.0.1:${port}/metrics`);
  expect(metrics).toMatch(/lapse_deletions_total\{controller="expiring-config-maps",outcome="deleted"\} 1/);
  expect(metrics).toMatch(/leader_election_master_status\{name="lapse"\} 1/);
  expect(metrics).toMatch(/rest_client_requests_total\{code="200",method="DELETE"\} 1/);
  expect(await process.end()).toBe(0);
  expect(process.out).toMatch(/"stopped","finished":true/);
});

const SLOW = `
import { ConfigMap, defineController, settled } from 'lapse/runtime';
export default defineController({
  name: 'slow', for: ConfigMap,
  async reconcile(pass) {
    if (pass.key.name === 'bad') throw new Error('this one always fails');
    pass.log.info({}, 'begun');
    await new Promise((resolve) => setTimeout(resolve, pass.key.name === 'endless' ? 1e9 : 300));
    pass.log.info({}, 'done');
    return settled();
  },
});`;

describe('signals', () => {
  test('what is in hand is finished; one key that fails is nobody else’s business', async () => {
    await server.call('POST', CONFIG_MAPS, { metadata: { name: 'bad' } });
    const process = lapse('--module', module('slow.ts', SLOW), '--leader-elect=false');
    await process.says(/"begun".*"key":"default\/stays"/);
    await process.says(/this one always fails/);
    expect(await process.end()).toBe(0);
    expect(process.out).toMatch(/"done".*"key":"default\/stays"/);
    expect(process.out).toMatch(/"finished":true/);
  });

  test('the second signal does not wait', async () => {
    await server.call('POST', CONFIG_MAPS, { metadata: { name: 'endless' } });
    const process = lapse('--module', module('slow.ts', SLOW), '--leader-elect=false');
    await process.says(/"begun".*"key":"default\/endless"/);
    process.child.kill('SIGTERM');
    await process.says(/"stopping"/);
    expect(await process.end('SIGINT')).toBe(130);
  });
});

describe('mistakes are answered in words', () => {
  test.each([
    [['--module', module('none.ts', 'export const a = 1;')], /needs "export default defineController/],
    [['--controllers', 'tll'], /--controllers: "tll" is none of \*/],
    [['--webhook-port', '0.0.0.0:9', '--module', module('s.ts', SLOW)], /needs --webhook-cert-file/],
  ])('%j', async (args, message) => {
    const process = lapse(...args);
    expect(await process.exited).toBe(2);
    expect(process.out).toMatch(message);
    expect(process.out).not.toMatch(/^\s+at /m);
  });
});
