import { expect, it } from 'vitest';
import { fuzz, stress } from './fuzz.ts';

const SEED = Number(process.env.SEED ?? 20_260_101);

it('100,000 random programs give what the tree walker gives, within budget and time', () => {
  const { programs, disagreements, overspent, longest } = fuzz(SEED, 100_000);
  expect(programs).toBe(100_000);
  expect(disagreements.slice(0, 5)).toEqual([]);
  expect(overspent).toEqual([]);
  expect(longest).toBeLessThan(50);
});

it('1,000 endless programs end with their budget, and before they block anyone', () => {
  const { programs, exhausted, overspent, longest, slowest } = stress(SEED, 1000);
  expect(exhausted).toBe(programs);
  expect(programs).toBeGreaterThan(900);
  expect(overspent).toEqual([]);
  expect(longest, slowest).toBeLessThan(50);
});
