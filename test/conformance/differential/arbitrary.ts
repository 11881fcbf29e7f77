// Random sequences that shrink well: first steps are dropped, then changes, then optional parts.

import fc from 'fast-check';
import type { Sequence, Step, Verb } from './types.ts';

const WEIGHTS: readonly (readonly [Verb, number])[] = [
  ['create', 6],
  ['get', 2],
  ['list', 4],
  ['update', 7],
  ['jsonPatch', 4],
  ['mergePatch', 4],
  ['strategicPatch', 3],
  ['apply', 6],
  ['status', 5],
  ['scale', 2],
  ['delete', 4],
  ['deleteCollection', 1],
  ['odd', 2],
];
const MOST_STEPS = 9;

const seed = fc.noShrink(fc.integer({ min: 1, max: 2 ** 31 - 1 }));

const step: fc.Arbitrary<Step> = fc.record({
  verb: fc.noShrink(fc.oneof(...WEIGHTS.map(([verb, weight]) => ({ weight, arbitrary: fc.constant(verb) })))),
  name: fc.noShrink(fc.constantFrom('a', 'a', 'a', 'b', 'c')),
  edits: fc.oneof(
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 4, arbitrary: fc.array(seed, { minLength: 1, maxLength: 3, size: 'max' }) },
  ),
  salt: fc.oneof({ withCrossShrink: true }, fc.constant(0), seed, seed),
});

export const sequences = (subjects: number): fc.Arbitrary<Sequence> =>
  fc.record({
    subject: fc.noShrink(fc.nat({ max: subjects - 1 })),
    steps: fc.array(step, { minLength: 1, maxLength: MOST_STEPS, size: 'max' }),
  });
