// ValidatingAdmissionPolicies on a real server behave as recorded in the fixture. policies.test.ts compares the
// embedded server with it. Run with RECORD=1 to rewrite the fixture.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Played, playPolicies } from './policies/play.ts';
import { useRealServer } from './realServer.ts';

const real = useRealServer();
const FIXTURE = new URL('./fixtures/policies.json', import.meta.url);

test('policies decide as recorded', async () => {
  const played = await playPolicies(real.target);
  if (process.env.RECORD === '1') writeFileSync(FIXTURE, `${JSON.stringify(played, null, 1)}\n`);
  const recorded = JSON.parse(readFileSync(FIXTURE, 'utf8')) as Played[];
  for (const [i, one] of played.entries()) expect(one).toEqual(recorded[i]);
});
