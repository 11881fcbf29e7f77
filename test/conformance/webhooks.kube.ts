// The embedded server calls webhooks as the real one does: with the same webhooks and the same writes, the answers and
// the admission requests are the same.

import { httpsOutbound } from '@lapse/apiserver/admission/webhooks/outbound';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bed, startBed } from '../kube/bed/bed.ts';
import { type Embedded, startEmbedded } from './embeddedTarget.ts';
import { bedTarget } from './replay/targets.ts';
import { CASES } from './webhooks/cases.ts';
import { type Hooks, startHooks } from './webhooks/hooks.ts';
import { runHooks } from './webhooks/run.ts';

let bed: Bed;
let real: ReturnType<typeof bedTarget>;
let embedded: Embedded;
let hooks: Hooks;

beforeAll(async () => {
  hooks = await startHooks();
  bed = await startBed();
  real = bedTarget(bed);
  embedded = await startEmbedded({ outbound: httpsOutbound });
});
afterAll(async () => {
  await real?.close();
  await embedded?.close();
  await bed?.stop();
  await hooks?.close();
});

test.each(CASES.map((given, i) => [given.name, given, i] as const))('%s', async (_, given, i) => {
  const theirs = await runHooks(real, hooks, given, i);
  const ours = await runHooks(embedded, hooks, given, i);
  expect(ours).toEqual(theirs);
});
