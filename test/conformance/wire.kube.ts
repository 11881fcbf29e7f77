// The recorded cases on the real server they were recorded from: all pass. This validates the recordings and the
// replayer.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bed, startBed } from '../kube/bed/bed.ts';
import { loadCases, runAll } from './replay/cases.ts';
import { bedTarget } from './replay/targets.ts';
import type { CaseResult } from './replay/types.ts';

let bed: Bed;

beforeAll(async () => {
  bed = await startBed();
});
afterAll(() => bed?.stop());

const unpassed = (results: ReadonlyMap<string, CaseResult>) =>
  [...results].filter(([, result]) => result.kind !== 'passed').map(([title]) => title);

test('the real server answers every recorded case as recorded', async () => {
  const target = bedTarget(bed);
  const results = await runAll(loadCases(), target, { width: 6 });
  // Concurrent cases affect each other: a bookmark because of another case's write, a 429 while storage for a new
  // version starts. Failed cases are repeated alone.
  const again = new Set(unpassed(results));
  const alone = await runAll(
    loadCases().filter((c) => again.has(c.title)),
    target,
    { width: 1 },
  );
  await target.close();
  expect(results.size).toBe(539);
  expect([...again].length).toBeLessThan(10);
  expect(unpassed(alone).map((title) => [title, alone.get(title)])).toEqual([]);
});
