// ValidatingAdmissionPolicies on the embedded server, compared with the answers of a real one (policies.kube.ts).

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Embedded, startEmbedded } from './embeddedTarget.ts';
import { CASES } from './policies/cases.ts';
import { type RunResult, runPolicies } from './policies/run.ts';

const FIXTURE = new URL('./fixtures/policies.json', import.meta.url);
const recorded = JSON.parse(readFileSync(FIXTURE, 'utf8')) as RunResult[];
let embedded: Embedded;
let results: RunResult[];

beforeAll(async () => {
  embedded = await startEmbedded();
  results = await runPolicies(embedded);
});
afterAll(async () => {
  await embedded?.close();
});

test.each(CASES.map(({ name }, i) => [name, i] as const))('%s', (_, i) => {
  expect(results[i]).toEqual(recorded[i]);
});

test('no request fails unexpectedly', () => expect(embedded.unexpected).toEqual([]));
