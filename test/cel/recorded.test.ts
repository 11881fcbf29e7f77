// Compares the engine with recorded answers of cel-go: same values, same errors, same costs, same messages.

import { expect, it } from 'vitest';
import { comparable, expressions, ourAnswer, recordedAnswers } from './recorded.ts';

const recorded = recordedAnswers();

it('there are many recorded programs', () => {
  expect(recorded.size).toBeGreaterThan(800);
  expect([...recorded.keys()]).toEqual(expressions());
});

it.each([...recorded])('%s', (expr, answer) => {
  expect(comparable(ourAnswer(expr))).toEqual(comparable(answer));
});
