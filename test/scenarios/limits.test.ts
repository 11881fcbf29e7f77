// A sample of limits.soak.ts.

import { expect } from 'vitest';
import { limitRound } from './limitRound.ts';
import { scenario } from './scenario.ts';

for (const seed of [1, 2])
  scenario(
    `policies with too wide selectors never delete more than their limit, seed ${seed}`,
    async (scene) => {
      expect(await limitRound(scene, seed, 5)).toBeGreaterThan(0);
    },
  );
