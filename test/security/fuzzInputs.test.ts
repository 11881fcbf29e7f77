// A sample of fuzzInputs.soak.ts.

import { expect, test } from 'vitest';
import { fuzzTarget } from './fuzzInputs.ts';
import { FUZZ_TARGETS } from './fuzzTargets.ts';

test.each(FUZZ_TARGETS)('randomly changed $name crash nothing', async (target) => {
  expect((await fuzzTarget(target, 16, 60)).crashes).toEqual([]);
});
