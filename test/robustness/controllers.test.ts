// A sample of rounds: traffic and faults drawn from a seed, every guarantee checked. The long round is
// controllers.soak.ts.

import { describe, test } from 'vitest';
import { captures } from './captures.ts';
import { jobs } from './jobs.ts';
import { pods } from './pods.ts';
import { policyTargets } from './policies.ts';
import { reportOf, runRound } from './round.ts';
import { expectKept, replayOf, seedsFrom } from './seeds.ts';
import { tiny } from './tiny.ts';

const REPLAY = replayOf('controllers.test.ts', 'fast');

describe.each([jobs, pods, policyTargets, captures, tiny()])('$name keeps every guarantee', (subject) => {
  test.each(seedsFrom(100, 2))('seed %d', async (seed) => {
    expectKept(reportOf(await runRound(subject, seed, { steps: 60 }), REPLAY));
  });
});
