// Tests of the replayer. Each recorded case is replayed against a server that answers as recorded, which must pass.
// Then one value in one answer is changed, and the replayer must fail at that step. This is a sample over all cases;
// mutation.soak.ts runs every mutation.

import { seededRandom } from '@lapse/base/random';
import { expect, test } from 'vitest';
import { missedMutation, replayRecorded } from './recordedServer/check.ts';
import { mutationsOf } from './recordedServer/mutations.ts';
import { loadCases } from './replay/cases.ts';

const PER_CASE = 3;
const cases = loadCases();

test('every case passes against a server that answers as recorded', async () => {
  const failures: string[] = [];
  for (const entry of cases) {
    const result = await replayRecorded(entry);
    if (result.kind !== 'passed') failures.push(`${entry.title}: ${JSON.stringify(result)}`);
  }
  expect(failures).toEqual([]);
  expect(cases.length).toBe(539);
});

test(`${PER_CASE} single changes per case, drawn over all of its answers, are detected at their step`, async () => {
  const random = seededRandom(1);
  const missed: string[] = [];
  let tried = 0;
  for (const entry of cases) {
    const mutations = mutationsOf(entry.wireCase);
    for (let i = 0; i < PER_CASE; i++, tried++) {
      const mutation = mutations[Math.floor(random.next() * mutations.length)]!;
      missed.push(...[await missedMutation(entry, mutation)].filter((m) => m !== undefined));
    }
  }
  expect(missed).toEqual([]);
  expect(tried).toBe(PER_CASE * cases.length);
});
