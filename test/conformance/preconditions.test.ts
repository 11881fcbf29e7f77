// A DELETE affects only the object that the client has read: for every kind in the discovery documents, a DELETE with
// another uid or resourceVersion is answered with 409 and the object is unchanged.

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
