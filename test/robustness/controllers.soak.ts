// Many rounds of traffic and faults, longer and with more faults than the sample.

import { expect, test } from 'vitest';
import { captures } from './captures.ts';
import { jobs } from './jobs.ts';
import { pods } from './pods.ts';
import { policyTargets } from './policies.ts';
import { reportOf, runRound } from './round.ts';
import { expectKept, replayOf, seedsFor } from './seeds.ts';
import { tiny } from './tiny.ts';

const REPLAY = replayOf('controllers.soak.ts', 'soak');
const TIME = Number(process.env['LAPSE_SOAK_MS'] ?? 10_000);

test.each([jobs, pods, policyTargets, captures, tiny()])('$name keeps every guarantee', async (subject) => {
  let rounds = 0;
  for (const seed of seedsFor(10_000, TIME)) {
    const round = await runRound(subject, seed, { steps: 40 + (seed % 160), storm: 1 + (seed % 6) });
    expectKept(reportOf(round, REPLAY));
    rounds++;
  }
  expect(rounds).toBeGreaterThan(0);
});
