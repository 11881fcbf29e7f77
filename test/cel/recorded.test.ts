// Compares the engine with recorded results of cel-go: same values, same errors, same costs, same messages.

import { expect, it } from 'vitest';
import { comparable, engineResult, expressions, recordedResults } from './recorded.ts';

const recorded = recordedResults();

it('there are many recorded programs', () => {
  expect(recorded.size).toBeGreaterThan(800);
  expect([...recorded.keys()]).toEqual(expressions());
});

it.each([...recorded])('%s', (expr, result) => {
  expect(comparable(engineResult(expr))).toEqual(comparable(result));
});
