// The real server keeps the promise of preconditions.test.ts for the same kinds.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bed, startBed } from '../kube/bed/bed.ts';
import { asker } from './model/ask.ts';
import { MINIMAL } from './preconditions/minimal.ts';
import { servedKinds } from './preconditions/served.ts';
import { expectPreconditionsHold, NS } from './preconditions/suite.ts';
import { bedTarget } from './replay/targets.ts';

let bed: Bed;
let target: ReturnType<typeof bedTarget>;

beforeAll(async () => {
  bed = await startBed();
  target = bedTarget(bed);
});
afterAll(async () => {
  await target?.close();
  await bed?.stop();
});

test('wrong preconditions delete nothing, whatever the kind', async () => {
  const ask = asker(target);
  await ask('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NS } });
  const served = (await servedKinds(ask)).filter((s) => Object.hasOwn(MINIMAL, s.id));
  for (const kind of served) await expectPreconditionsHold(ask, kind);
  expect(served.map((s) => s.id).sort()).toEqual(Object.keys(MINIMAL).sort());
});
