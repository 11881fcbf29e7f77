import { type Instant, instant, millis, seconds } from '@lapse/base/instant';
import type { SkewEstimate } from '@lapse/kube/client/skew';
import { describe, expect, test } from 'vitest';
import { beyondTolerance, computeShift, computeStamp, computeVerdict } from './skewGuard.ts';

const estimate = (offset: number, uncertainty = 500): SkewEstimate => ({
  offset: millis(offset),
  uncertainty: millis(uncertainty),
  samples: 5,
});

describe('computeShift', () => {
  test.each<[string, SkewEstimate | undefined, number]>([
    ['nothing known: the local clock', undefined, 0],
    ['equal clocks', estimate(0), 0],
    ['ours behind: the local clock, which is late', estimate(29_000), 0],
    ['ours ahead by less than a Date header can tell, at most', estimate(-500), 0],
    ["ours ahead by more, perhaps: the server's time at its earliest", estimate(-501), -1001],
    ['ours ahead by a lot', estimate(-29_000), -29_500],
    ['a large uncertainty makes late, not early', estimate(0, 1500), -1500],
  ])('%s', (_rule, known, shift) => {
    expect(computeShift(known)).toBe(shift);
  });
});

describe('computeStamp', () => {
  test.each<[string, SkewEstimate | undefined, number, number]>([
    ['nothing to correct: the local clock', undefined, 100_000, 100_000],
    ['a fraction of a second is rounded up', undefined, 100_001, 101_000],
    ['ours behind by no more than a Date header can tell', estimate(500), 100_000, 100_000],
    ["ours behind by more, perhaps: the server's time at its latest", estimate(501), 100_000, 102_000],
    ['ours behind by a lot', estimate(28_000), 100_000, 129_000],
    ['ours ahead by a lot: also at its latest', estimate(-28_000), 100_000, 73_000],
    ['a large uncertainty makes late, not early', estimate(0, 1500), 100_000, 102_000],
  ])('%s', (_rule, known, local, stamp) => {
    expect(computeStamp(instant(local), known)).toBe(stamp);
  });
});

describe('computeVerdict', () => {
  test.each<[string, SkewEstimate | undefined, string]>([
    ['nothing known', undefined, 'unknown'],
    ['equal', estimate(0), 'good'],
    ['exactly at the limit', estimate(-30_000), 'good'],
    ['beyond it', estimate(-30_001), 'tooFar'],
    ['beyond it on the other side', estimate(30_001), 'tooFar'],
  ])('%s → %s', (_rule, known, verdict) => {
    expect(computeVerdict(known, seconds(30)).kind).toBe(verdict);
  });
});

describe('beyondTolerance', () => {
  test.each([
    ['in the past', 900, 0],
    ['in the future, as far as clocks may differ', 31_000, 0],
    ['one millisecond further', 31_001, 1],
  ])('%s', (_rule, at, beyond) => {
    expect(beyondTolerance(at as Instant, 1000 as Instant, seconds(30))).toBe(beyond);
  });
});
