// `lapse run` as a process: a third-party controller against an API server, from start to SIGTERM.

import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { ConfigMap } from '@lapse/kube/api/kinds/builtin';
import { expect, test } from 'vitest';
import { Runs, SLOW } from './runAgainst.ts';

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

async function untilDeleted(name: string): Promise<void> {
  const watched = { namespace: 'default', fieldSelector: `metadata.name=${name}` };
  for await (const { type } of runs.client.watch(ConfigMap, watched)) if (type === 'deleted') return;
}

// One start for two checks, because a start takes longer than both of them.
test('the first controller, copied to a separate project, deletes what it should; SIGTERM lets a slow reconcile finish', async () => {
  const text = readFileSync(example, 'utf8');
  await runs.configMap('short', { 'example.com/expires-after': '1s' });
  await runs.configMap('stays');
  await runs.configMap('bad');
  // Watched from before it starts: its first action may be the deletion.
  const deleted = untilDeleted('short');
  const modules = [runs.module('mine.ts', text), runs.module('slow.ts', SLOW)];
  const process = runs.start(...modules.flatMap((file) => ['--module', file]));
  const [, port] = await process.says(/"serving \/healthz.*"port":(\d+)/);
  await process.says(/"controller started"/);
  await deleted;
  expect(await runs.client.get(ConfigMap, { namespace: 'default', name: 'stays' })).toBeDefined();
  expect(await read(`http://127.0.0.1:${port}/readyz`)).toMatch(/^200 ok/);
  const metrics = await read(`http://127.0.0.1:${port}/metrics`);
  expect(metrics).toMatch(/lapse_deletions_total\{controller="expiring-config-maps",outcome="deleted"\} 1/);
  expect(metrics).toMatch(/leader_election_master_status\{name="lapse"\} 1/);
  expect(metrics).toMatch(/rest_client_requests_total\{code="200",method="DELETE"\} 1/);

  // One failing key does not affect the others; reconciles in progress are finished.
  await process.says(/this one always fails/);
  await runs.configMap('late');
  await process.says(/"begun".*"key":"default\/late"/);
  expect(await process.end()).toBe(0);
  expect(process.out).toMatch(/"done".*"key":"default\/late"/);
  expect(process.out).toMatch(/"stopped","finished":true/);
});
