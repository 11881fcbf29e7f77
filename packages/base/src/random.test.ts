import { describe, expect, test } from 'vitest';
import { nameSuffix, seededRandom, systemRandom, uuid } from './random.ts';

describe.each([
  ['system', systemRandom],
  ['seeded', seededRandom(7)],
])('%s', (_, random) => {
  test('floats are in [0, 1) and spread out', () => {
    const drawn = Array.from({ length: 10_000 }, () => random.next());
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...drawn)).toBeLessThan(1);
    expect(drawn.reduce((a, b) => a + b) / drawn.length).toBeCloseTo(0.5, 1);
  });

  test('uids are version 4 and never repeat', () => {
    const drawn = new Set(Array.from({ length: 20_000 }, () => uuid(random)));
    expect(drawn.size).toBe(20_000);
    for (const u of drawn)
      expect(u).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test('bytes returns the requested length, also beyond one block', () => {
    for (const n of [0, 1, 16, 4095, 4096, 4097, 10_000]) expect(random.bytes(n).length).toBe(n);
  });
});

test('the same seed gives the same draws', () => {
  const draw = (seed: number) => {
    const random = seededRandom(seed);
    return [uuid(random), nameSuffix(random), random.next()];
  };
  expect(draw(42)).toEqual(draw(42));
  expect(draw(42)).not.toEqual(draw(43));
});

test('suffixes are five characters without vowels', () => {
  expect(nameSuffix(systemRandom)).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});
