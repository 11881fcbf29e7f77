// Rights on the real server are what the fixture says: the embedded one is held to it in the fast round. Run with
// RECORD=1 to write the fixture anew.

import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bed, startBed } from '../kube/bed/bed.ts';
import { playAccess } from './access/play.ts';
import { bedTarget } from './replay/targets.ts';

const FIXTURE = new URL('./fixtures/access.json', import.meta.url);

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

test('who may do what, as recorded', async () => {
  const seen = await playAccess(target, 'access-conversation');
  if (process.env.RECORD === '1') writeFileSync(FIXTURE, `${JSON.stringify(seen, null, 1)}\n`);
  expect(seen).toEqual(JSON.parse(readFileSync(FIXTURE, 'utf8')));
});
