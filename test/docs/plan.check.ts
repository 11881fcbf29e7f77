// The example of docs/tasks/plan.md is the exact output of lapse plan for its manifests.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hours, parseTime, plus } from '@lapse/base/instant';
import { VirtualClock } from '@lapse/base/virtualClock';
import { openManifests } from 'lapse/cli/manifestFiles';
import { planText } from 'lapse/cli/plan/text';
import { FAMILIES } from 'lapse/controllers/registry';
import { Owners } from 'lapse/forecast/cascade/read';
import { makePlan } from 'lapse/forecast/makePlan';
import { createSnapshot, readingFrom } from 'lapse/forecast/snapshot';
import { readGeneral } from 'lapse/manager/configuration/general';
import { compileConfiguration } from 'lapse/manager/configuration/schema';
import { expect, test } from 'vitest';

const page = readFileSync(join(import.meta.dirname, '../../docs/tasks/plan.md'), 'utf8');
const block = (language: string) =>
  [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].find((match) => match[1] === language)![2]!;

test('docs/tasks/plan.md shows the output of its example', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'lapse-plan-'));
  const file = join(directory, 'manifests.yaml');
  writeFileSync(file, block('yaml'));
  const now = parseTime('2026-03-01T10:00:00Z');
  const { document } = compileConfiguration(FAMILIES).complete({ actAs: 'controller' });
  const { client, unknown, close } = await openManifests([file], new VirtualClock(now));
  try {
    expect(unknown).toEqual([]);
    const served = await client.discovery.all();
    const owners = new Owners(served);
    const plan = await makePlan({
      snapshot: createSnapshot(served, readingFrom(client, { witness: owners })),
      owners,
      now,
      until: plus(now, hours(7 * 24)),
      cluster: 'manifests.yaml',
      general: readGeneral(document),
      document,
      known: FAMILIES,
      selected: FAMILIES.filter(({ defaultOn }) => defaultOn),
    });
    expect(planText(plan, { colour: false, wide: true })).toBe(block(''));
  } finally {
    await close();
    rmSync(directory, { recursive: true });
  }
});
