// Many random sequences of events: any order, watch streams that lag behind one another, restarts, lost responses and
// other writers. A failure prints its seed and path, with which the sequence can be repeated.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Model } from './model.testkit.ts';
import { runStory, story } from './story.testkit.ts';

const STORIES = 500;

test(`after each of ${STORIES} random sequences the status equals one computed from scratch`, async () => {
  let writes = 0;
  await fc.assert(
    fc.asyncProperty(story, async (steps) => {
      const model = await Model.create();
      try {
        await runStory(model, steps);
      } finally {
        await model.close();
        writes += model.writes;
      }
    }),
    { numRuns: STORIES },
  );
  expect(writes).toBeGreaterThan(STORIES);
});
