// A sample of rounds about watches, and proof that each guarantee can be violated. The long round is watch.soak.ts.

import { describe, expect, test } from 'vitest';
import { expectKept, replayOf, seedsFrom } from '../seeds.ts';
import type { WatchFlaw } from './flaws.ts';
import type { WatchGuaranteeName } from './guarantees.ts';
import { runWatchRound, watchReportOf } from './round.ts';

const REPLAY = replayOf('watch/watch.test.ts', 'fast');

test.each(seedsFrom(1, 6))('every guarantee of a watch is kept (seed %d)', async (seed) => {
  const round = await runWatchRound(seed, { steps: 120 });
  expectKept(watchReportOf(round, REPLAY));
  const heard = round.evidence.flatMap((one) => one.heard.map(({ kind }) => kind));
  expect(new Set(heard)).toEqual(new Set(['listed', 'resumed', 'event', 'bookmark']));
});

describe('each guarantee detects its flaw, and the flaw is in the watch, not in the check', () => {
  const CAUGHT_BY: Readonly<Record<WatchFlaw, WatchGuaranteeName>> = {
    swapping: 'ordered',
    repeating: 'unique',
    losing: 'reliable',
    amnesiac: 'resumable',
    boasting: 'bookmarkable',
  };
  test.each(Object.entries(CAUGHT_BY) as [WatchFlaw, WatchGuaranteeName][])(
    '%s: %s',
    async (flaw, promise) => {
      for (const seed of [1, 2, 3, 4, 5]) {
        const { broken } = await runWatchRound(seed, { steps: 50, flaw });
        if (broken[promise] !== undefined) return;
      }
      expect.fail(`no round broke ${promise}`);
    },
  );
});
