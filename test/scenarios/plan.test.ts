// A small sample of the rounds in plan.soak.ts.

import { expect, test } from 'vitest';
import { playPlans } from './planRound.ts';

test.each([3, 5])('everything happens as planned (seed %d)', async (seed) => {
  expect(await playPlans(seed, { size: 20, plans: 2 })).toEqual([]);
});
