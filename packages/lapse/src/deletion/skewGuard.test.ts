import { instant, millis, seconds } from '@lapse/base/instant';
import type { SkewEstimate } from '@lapse/kube/client/skew';
import { describe, expect, test } from 'vitest';
import { computeClockState, computeShift, computeStamp } from './skewGuard.ts';

const estimate = (offset: number, uncertainty = 500): SkewEstimate => ({
  offset: millis(offset),
  uncertainty: millis(uncertainty),
  samples: 5,
});

describe('computeShift', () => {
  test.each<[string, SkewEstimate | undefined, number]>([
    ['no estimate: the local clock', undefined, 0],
    ['equal clocks', estimate(0), 0],
    ['local clock behind: not corrected, deletions are late', estimate(29_000), 0],
    ['local clock ahead by at most the resolution of a Date header: not corrected', estimate(-500), 0],
    ['local clock possibly ahead by more: the earliest possible server time', estimate(-501), -1001],
    ['local clock far ahead: the earliest possible server time', estimate(-29_000), -29_500],
    ['a large uncertainty makes late, not early', estimate(0, 1500), -1500],
  ])('%s', (_rule, known, shift) => {
    expect(computeShift(known)).toBe(shift);
  });
});

describe('computeStamp', () => {
  test.each<[string, SkewEstimate | undefined, number, number]>([
    ['no estimate: the local clock', undefined, 100_000, 100_000],
    ['a fraction of a second is rounded up', undefined, 100_001, 101_000],
    [
      'local clock behind by at most the resolution of a Date header: not corrected',
      estimate(500),
      100_000,
      100_000,
    ],
    ['local clock possibly behind by more: the latest possible server time', estimate(501), 100_000, 102_000],
    ['local clock far behind: the latest possible server time', estimate(28_000), 100_000, 129_000],
    ['local clock far ahead: the latest possible server time', estimate(-28_000), 100_000, 73_000],
    ['a large uncertainty makes late, not early', estimate(0, 1500), 100_000, 102_000],
  ])('%s', (_rule, known, local, stamp) => {
    expect(computeStamp(instant(local), known)).toBe(stamp);
  });
});

describe('computeClockState', () => {
  test.each<[string, SkewEstimate | undefined, string]>([
    ['no estimate', undefined, 'unknown'],
    ['equal clocks', estimate(0), 'good'],
    ['exactly at the limit', estimate(-30_000), 'good'],
    ['server clock too far behind', estimate(-30_001), 'tooFar'],
    ['server clock too far ahead', estimate(30_001), 'tooFar'],
  ])('%s → %s', (_rule, known, state) => {
    expect(computeClockState(known, seconds(30)).kind).toBe(state);
  });
});
