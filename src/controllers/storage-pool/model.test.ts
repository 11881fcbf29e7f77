// A sample of random stories; many more are told in model.soak.ts.

import fc from 'fast-check';
import { test } from 'vitest';
import { Model } from './model.testkit.ts';
import { story, tellStory } from './story.testkit.ts';

test('after any story the status is what it would be from scratch, and every write was a change', async () => {
  await fc.assert(
    fc.asyncProperty(story, async (told) => {
      const model = await Model.create();
      try {
        await tellStory(model, told);
      } finally {
        await model.close();
      }
    }),
    { numRuns: 12, seed: 20_260_101, endOnFailure: true },
  );
});
