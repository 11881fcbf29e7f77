import { expect, it } from 'vitest';
import { fuzz } from './fuzz.ts';

it('2,000 random programs give what the tree walker gives', () => {
  const { programs, errors, disagreements, overspent } = fuzz(1, 2000);
  expect(disagreements.slice(0, 5)).toEqual([]);
  expect(overspent).toEqual([]);
  // Both kinds of outcome must be common for a meaningful comparison.
  expect(errors).toBeGreaterThan(programs * 0.1);
  expect(errors).toBeLessThan(programs * 0.6);
});
