import { describe, expect, it } from 'vitest';
import { computeBackoff } from './backoff.ts';
import { millis } from './instant.ts';

const chance = (value: number) => ({ next: () => value, bytes: () => new Uint8Array() });
const options = { first: millis(100), max: millis(5_000) };

describe('computeBackoff', () => {
  it.each([
    ['the shortest first delay', 1, 0, 50],
    ['the longest first delay', 1, 0.999999, 100],
    ['doubles', 2, 0.999999, 200],
    ['doubles again', 3, 0.999999, 400],
    ['stops at the maximum', 7, 0.999999, 5_000],
    ['stays at the maximum for any number of failures', 10_000, 0.999999, 5_000],
    ['half of the maximum is fixed', 10_000, 0, 2_500],
    ['zero failures count as one', 0, 0.999999, 100],
  ])('%s', (_rule, failures, value, delay) => {
    expect(computeBackoff(failures, options, chance(value))).toBeCloseTo(delay, 1);
  });

  it('is exact without jitter', () => {
    expect(computeBackoff(3, { ...options, jitter: 0, factor: 3 }, chance(0.7))).toBe(900);
  });
});
