import { describe, expect, it } from 'vitest';
import { millis } from './instant.ts';
import { TokenBucket } from './tokenBucket.ts';

const bucket = (perSecond: number, burst: number) => new TokenBucket({ perSecond, burst, now: millis(0) });

describe('TokenBucket', () => {
  it('a full bucket allows the whole burst immediately, then one token at a time', () => {
    const b = bucket(10, 3);
    expect([b.take(millis(0)), b.take(millis(0)), b.take(millis(0))]).toEqual([0, 0, 0]);
    expect(b.take(millis(0))).toBeCloseTo(100);
    expect(b.take(millis(60))).toBeCloseTo(40);
    expect(b.take(millis(100))).toBe(0);
    expect(b.take(millis(100))).toBeCloseTo(100);
  });

  it('never holds more than the burst, however long it was idle', () => {
    const b = bucket(10, 2);
    expect(b.take(millis(1_000_000))).toBe(0);
    expect(b.take(millis(1_000_000))).toBe(0);
    expect(b.take(millis(1_000_000))).toBeCloseTo(100);
  });

  it('a caller that waits exactly the returned time gets a token, at any rate', () => {
    for (const rate of [0.1, 0.3, 3, 7, 33, 49.7, 1000]) {
      const b = bucket(rate, 1);
      let now = 0;
      b.take(millis(now));
      for (let i = 0; i < 1000; i++) {
        now += b.take(millis(now));
        expect(b.take(millis(now))).toBe(0);
      }
    }
  });

  it('keeps the configured rate over a long time', () => {
    const b = bucket(50, 10);
    let taken = 0;
    for (let now = 0; now <= 10_000; now++) while (b.take(millis(now)) === 0) taken++;
    expect(taken).toBe(510);
  });

  it('a burst below one still allows requests', () => {
    expect(bucket(1, 0).take(millis(0))).toBe(0);
  });
});
