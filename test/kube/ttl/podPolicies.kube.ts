// The admission policies for Pods with a TTL on a real API server: the same table as on the embedded one.

import { expect, test } from 'vitest';
import { asker } from '../../conformance/model/ask.ts';
import { useRealServer } from '../../conformance/realServer.ts';
import { EXPECTED, runPodPolicies } from './policyCases.ts';

const real = useRealServer();

test('the TTL annotation is refused where it has no effect, and only when it is new', async () => {
  expect(await runPodPolicies(asker(real.target))).toEqual(EXPECTED);
}, 60_000);
