// A small sample of the rounds in plan.soak.ts.

import { expect, test } from 'vitest';
import { runPlans } from './planRound.ts';

test.each([3, 5])('everything happens as planned (seed %d)', async (seed) => {
  expect(await runPlans(seed, { size: 20, plans: 2 })).toEqual([]);
});
