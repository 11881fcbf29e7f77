// Many rounds about watches, longer than the sample.

import { expect, test } from 'vitest';
import { expectKept, replayOf, seedsFor } from '../seeds.ts';
import { runWatchRound, watchReportOf } from './round.ts';

const REPLAY = replayOf('watch/watch.soak.ts', 'soak');
const TIME = Number(process.env['LAPSE_SOAK_MS'] ?? 12_000);

test('every guarantee of a watch is kept', async () => {
  let rounds = 0;
  for (const seed of seedsFor(1000, TIME)) {
    expectKept(watchReportOf(await runWatchRound(seed, { steps: 100 + (seed % 400) }), REPLAY));
    rounds++;
  }
  expect(rounds).toBeGreaterThan(0);
});
