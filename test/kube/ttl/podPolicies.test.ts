// The admission policies for Pods with a TTL on the embedded server. podPolicies.kube.ts runs the same table on a real
// one.

import { expect, test } from 'vitest';
import { startEmbedded } from '../../conformance/embeddedTarget.ts';
import { asker } from '../../conformance/model/ask.ts';
import { EXPECTED, runPodPolicies } from './policyCases.ts';

test('the TTL annotation is refused where it has no effect, and only when it is new', async () => {
  const embedded = await startEmbedded();
  expect(await runPodPolicies(asker(embedded))).toEqual(EXPECTED);
  expect(embedded.unexpected).toEqual([]);
  await embedded.close();
});
