// Conformance with the language: every vector of cel-spec that is in scope, and their number.

import { describe, expect, it } from 'vitest';
import { runAll } from './reference.ts';

describe('cel-spec vectors', () => {
  const { groups, failures } = runAll();

  it('no vector fails without a listed reason', () => {
    expect(failures).toEqual([]);
  });

  it.each(groups)(
    '$title: $passed of $run pass, $skipped are out of scope',
    ({ title, passed, run, skipped }) => {
      const least = title === 'Core' ? 0.999 : 0.99;
      expect(passed / run).toBeGreaterThanOrEqual(least);
      expect(run).toBeGreaterThan(skipped * (title === 'Core' ? 1 : 0));
    },
  );

  it('the core has enough vectors', () => {
    expect(groups[0]!.run).toBeGreaterThan(1100);
    expect(groups[1]!.run).toBeGreaterThan(500);
  });
});
