// Compares plans of random clusters, made from time to time, with what happens afterwards.

import { expect, test } from 'vitest';
import { seedsFor } from '../robustness/seeds.ts';
import { runPlans } from './planRound.ts';

const MOST = 25_000;

test('everything happens as planned, to the second, including the cascades', async () => {
  let rounds = 0;
  for (const seed of seedsFor(1000, MOST)) {
    const problems = await runPlans(seed, {
      size: 40,
      plans: 4,
      crowded: seed % 2 === 1,
    });
    expect(problems, `LAPSE_SEED=${seed} npx vitest run --project soak test/scenarios/plan.soak.ts`).toEqual(
      [],
    );
    rounds++;
  }
  expect(rounds).toBeGreaterThan(0);
});
