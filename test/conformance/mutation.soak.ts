// The replayer detects every single change to every recorded answer, at the step where it was made.

import { expect, test } from 'vitest';
import { missedMutation } from './recordedServer/check.ts';
import { mutationsOf } from './recordedServer/mutations.ts';
import { loadCases } from './replay/cases.ts';

test('every single change to a recorded answer is detected at its step', async () => {
  const missed: string[] = [];
  let tried = 0;
  for (const entry of loadCases()) {
    for (const mutation of mutationsOf(entry.wireCase)) {
      missed.push(...[await missedMutation(entry, mutation)].filter((m) => m !== undefined));
      tried++;
    }
  }
  expect(missed).toEqual([]);
  expect(tried).toBeGreaterThan(10_000);
  process.stdout.write(`${tried} mutations noticed\n`);
});
