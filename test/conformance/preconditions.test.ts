// Nothing is ever deleted that is not the object somebody looked at: for every kind in the discovery documents, a
// DELETE with another uid or resourceVersion is 409 and the object stays as it was.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Embedded, startEmbedded } from './embeddedTarget.ts';
import { asker } from './model/ask.ts';
import { servedKinds } from './preconditions/served.ts';
import { expectPreconditionsHold, NS } from './preconditions/suite.ts';

let target: Embedded;

beforeAll(async () => {
  target = await startEmbedded();
});
afterAll(() => target?.close());

test('wrong preconditions delete nothing, whatever the kind', async () => {
  const ask = asker(target);
  await ask('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NS } });
  const served = await servedKinds(ask);
  for (const kind of served) await expectPreconditionsHold(ask, kind);
  expect(served.length).toBeGreaterThan(35);
  expect(target.unexpected).toEqual([]);
});
