// Webhooks of the embedded server, over HTTPS: the comparison of webhooks.kube.ts, against a fixture. Run with RECORD=1
// to rewrite it, and then run the kube round.

import { readFileSync, writeFileSync } from 'node:fs';
import { httpsOutbound } from '@lapse/apiserver/admission/webhooks/outbound';
import { expect, test } from 'vitest';
import { startEmbedded } from './embeddedTarget.ts';
import { CASES } from './webhooks/cases.ts';
import { startHooks } from './webhooks/hooks.ts';
import { type RunResult, runHooks } from './webhooks/run.ts';

const FIXTURE = new URL('./fixtures/webhooks.json', import.meta.url);

test('webhooks are called as recorded', async () => {
  const hooks = await startHooks();
  const embedded = await startEmbedded({ outbound: httpsOutbound });
  const results: RunResult[] = [];
  for (const [i, given] of CASES.entries()) results.push(await runHooks(embedded, hooks, given, i));
  if (process.env.RECORD === '1') writeFileSync(FIXTURE, `${JSON.stringify(results, null, 1)}\n`);
  const recorded = JSON.parse(readFileSync(FIXTURE, 'utf8')) as RunResult[];
  for (const [i, one] of results.entries()) expect(one).toEqual(recorded[i]);
  expect(embedded.unexpected).toEqual([]);
  await embedded.close();
  await hooks.close();
});
