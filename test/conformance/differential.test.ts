// The comparison of random sequences itself: a server agrees with an identical one, and a server with a single
// different answer is detected by the shortest sequence that shows it.

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sequences } from './differential/arbitrary.ts';
import { prepareDefinitions } from './differential/prepare.ts';
import { type Disagreement, firstDisagreement, runOn } from './differential/run.ts';
import { BUILTIN } from './differential/subjects.ts';
import type { Subject } from './differential/types.ts';
import { type Embedded, startEmbedded } from './embeddedTarget.ts';
import type { Target } from './replay/types.ts';

let one: Embedded;
let other: Embedded;
let subjects: readonly Subject[];

beforeAll(async () => {
  one = await startEmbedded();
  other = await startEmbedded();
  const prepared = await prepareDefinitions({ seed: 1, count: 8 }, one, other);
  expect(prepared.disagreements).toEqual([]);
  subjects = [...BUILTIN, ...prepared.subjects];
});
afterAll(async () => {
  await one?.close();
  await other?.close();
});

const some = () => sequences(subjects.length);

test('a server agrees with an identical server', async () => {
  const agrees = fc.asyncProperty(some(), async ({ subject, steps }) => {
    const [a, b] = [
      await runOn(one, subjects[subject]!, steps),
      await runOn(other, subjects[subject]!, steps),
    ];
    expect(firstDisagreement(subjects[subject]!, a, b)).toBeUndefined();
  });
  await fc.assert(agrees, { numRuns: 12, seed: 1 });
  expect([...one.unexpected, ...other.unexpected]).toEqual([]);
});

test('a single difference is found, and reported alone', async () => {
  // Answers deletions with 202.
  const faulty: Target = {
    ...other,
    request: async (request) => {
      const response = await other.request(request);
      return request.method === 'DELETE' && response.status === 200 ? { ...response, status: 202 } : response;
    },
  };
  let found: Disagreement | undefined;
  const agrees = fc.asyncProperty(some(), async ({ subject, steps }) => {
    const [a, b] = [
      await runOn(one, subjects[subject]!, steps),
      await runOn(faulty, subjects[subject]!, steps),
    ];
    found = firstDisagreement(subjects[subject]!, a, b) ?? found;
    return firstDisagreement(subjects[subject]!, a, b) === undefined;
  });
  const { failed } = await fc.check(agrees, { numRuns: 60, seed: 1 });
  expect(failed).toBe(true);
  // The beginning of every sequence, and the deletion.
  expect(found!.requests).toHaveLength(2);
  expect(found).toMatchObject({ real: { status: 200 }, embedded: { status: 202 } });
});
