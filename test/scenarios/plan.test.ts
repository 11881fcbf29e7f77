// A small sample of what plan.soak.ts does at length.

import { expect, test } from 'vitest';
import { playPlans } from './planRound.ts';

test.each([3, 5])('what happens is what was planned (seed %d)', async (seed) => {
  expect(await playPlans(seed, { size: 20, plans: 2 })).toEqual([]);
});
