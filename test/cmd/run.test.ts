// `lapse run` as a process: a controller of somebody else against an API server, from start to SIGTERM.

import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CONFIG_MAPS, Runs, SLOW } from './runAgainst.ts';

const example = join(import.meta.dirname, '../../examples/00-first-controller/expiring-config-maps.ts');
const runs = new Runs();

const read = (url: string) =>
  new Promise<string>((resolve, reject) => {
    get(url, (response) => {
      let body = `${response.statusCode} `;
      response.on('data', (chunk) => (body += chunk));
      response.on('end', () => resolve(body));
    }).on('error', reject);
  });

async function untilDeleted(path: string): Promise<void> {
  for await (const { type } of runs.server.watch(path)) if (type === 'DELETED') return;
}

test('the first controller, copied to a project of its own, ends what should end', async () => {
  const text = readFileSync(example, 'utf8')
    .replace('#controllers/family', 'lapse/family')
    .replace('#lifecycle/library', 'lapse/lifecycle')
    .replace('#runtime/library', 'lapse/runtime');
  expect(text).not.toContain("'#");
  const annotations = { 'example.com/expires-after': '1s' };
  await runs.server.call('POST', CONFIG_MAPS, { metadata: { name: 'short', annotations } });
  await runs.server.call('POST', CONFIG_MAPS, { metadata: { name: 'stays' } });
  // Looked at from before it starts: the first thing it does may be the deletion.
  const deleted = untilDeleted(`${CONFIG_MAPS}?watch=true&fieldSelector=metadata.name=short`);
  const process = runs.start('--module', runs.module('mine.ts', text));
  const [, port] = await process.says(/"serving \/healthz.*"port":(\d+)/);
  await process.says(/"controller started"/);
  await deleted;
  expect((await runs.server.call('GET', `${CONFIG_MAPS}/stays`)).status).toBe(200);
  expect(await read(`http://127.0.0.1:${port}/readyz`)).toMatch(/^200 ok/);
  const metrics = await read(`http://127.0.0.1:${port}/metrics`);
  expect(metrics).toMatch(/lapse_deletions_total\{controller="expiring-config-maps",outcome="deleted"\} 1/);
  expect(metrics).toMatch(/leader_election_master_status\{name="lapse"\} 1/);
  expect(metrics).toMatch(/rest_client_requests_total\{code="200",method="DELETE"\} 1/);
  expect(await process.end()).toBe(0);
  expect(process.out).toMatch(/"stopped","finished":true/);
});

test('SIGTERM: what is in hand is finished; one key that fails is nobody else’s business', async () => {
  await runs.server.call('POST', CONFIG_MAPS, { metadata: { name: 'bad' } });
  const process = runs.start('--module', runs.module('slow.ts', SLOW), '--leader-elect=false');
  await process.says(/"begun".*"key":"default\/stays"/);
  await process.says(/this one always fails/);
  expect(await process.end()).toBe(0);
  expect(process.out).toMatch(/"done".*"key":"default\/stays"/);
  expect(process.out).toMatch(/"finished":true/);
});
