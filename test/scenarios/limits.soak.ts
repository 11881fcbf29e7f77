// 1,000 policies with random selectors, crashes and failing requests: none deletes more than its limit.
// Replay one round: SEED=7 npx vitest run --project soak test/scenarios/limits.soak.ts

import { expect, test } from 'vitest';
import { limitRound } from './limitRound.ts';
import { runScene } from './sceneRunner.ts';

const POLICIES = 20;
const seed = process.env['SEED'];
const seeds = seed === undefined ? Array.from({ length: 50 }, (_, i) => i + 1) : [Number(seed)];

test('1,000 policies with too wide selectors never delete more than their limit', async () => {
  let stopped = 0;
  for (const one of seeds)
    await runScene(async (scene) => {
      stopped += await limitRound(scene, one, POLICIES);
    });
  expect(stopped).toBeGreaterThan((seeds.length * POLICIES) / 4);
});
