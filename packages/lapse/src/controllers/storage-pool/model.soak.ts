// Random stories, many of them: events in any order, streams that lag behind one another, restarts, lost answers and
// other writers. A failure names its seed and path, with which the story is told again.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Model } from './model.testkit.ts';
import { story, tellStory } from './story.testkit.ts';

const STORIES = 1000;

test(`after any of ${STORIES} stories the status is what it would be from scratch`, async () => {
  let writes = 0;
  await fc.assert(
    fc.asyncProperty(story, async (steps) => {
      const model = await Model.create();
      try {
        await tellStory(model, steps);
      } finally {
        await model.close();
        writes += model.writes;
      }
    }),
    { numRuns: STORIES },
  );
  expect(writes).toBeGreaterThan(STORIES);
});
