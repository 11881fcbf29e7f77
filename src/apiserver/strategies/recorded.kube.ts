// The real server still answers as recorded.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { bedTarget } from '../../../test/conformance/replay/targets.ts';
import { type Bed, startBed } from '../../../test/kube/bed/bed.ts';
import { families, loadFamily, play } from './recorded.testkit.ts';

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

let count = 0;

test.each(families())('%s', async (family) => {
  for (const probe of loadFamily(family)) {
    const got = await play({ send: target.request, token: bed.adminToken }, probe, `recorded-${++count}`);
    expect({ name: probe.name, steps: got }).toEqual(probe);
  }
});
