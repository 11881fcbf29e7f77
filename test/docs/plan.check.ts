// The example of docs/plan.md is what lapse plan says about its manifests, letter by letter.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hours, parseTime, plus } from '#base/instant';
import { VirtualClock } from '#base/virtualClock';
import { readGeneral } from '#cmd/configuration/general';
import { compileConfiguration } from '#cmd/configuration/schema';
import { Owners } from '#cmd/plan/cascade/read';
import { openManifests } from '#cmd/plan/files';
import { makePlan } from '#cmd/plan/makePlan';
import { createSnapshot, readingFrom } from '#cmd/plan/snapshot';
import { planText } from '#cmd/plan/text';
import { FAMILIES } from '#controllers/registry';

const page = readFileSync(join(import.meta.dirname, '../../docs/plan.md'), 'utf8');
const block = (language: string) =>
  [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].find((match) => match[1] === language)![2]!;

test('docs/plan.md shows what is said about its example', async () => {
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
