// ValidatingAdmissionPolicies on a real server behave as recorded in the fixture. policies.test.ts compares the
// embedded server with it. Run with RECORD=1 to rewrite the fixture.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type RunResult, runPolicies } from './policies/run.ts';
import { useRealServer } from './realServer.ts';

const real = useRealServer();
const FIXTURE = new URL('./fixtures/policies.json', import.meta.url);

test('policies decide as recorded', async () => {
  const results = await runPolicies(real.target);
  if (process.env.RECORD === '1') writeFileSync(FIXTURE, `${JSON.stringify(results, null, 1)}\n`);
  const recorded = JSON.parse(readFileSync(FIXTURE, 'utf8')) as RunResult[];
  for (const [i, one] of results.entries()) expect(one).toEqual(recorded[i]);
});
