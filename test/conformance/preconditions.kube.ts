// The real server passes the checks of preconditions.test.ts for the same kinds.

import { expect, test } from 'vitest';
import { asker } from './model/ask.ts';
import { MINIMAL } from './preconditions/minimal.ts';
import { servedKinds } from './preconditions/served.ts';
import { expectPreconditionsHold, NS } from './preconditions/suite.ts';
import { useRealServer } from './realServer.ts';

const real = useRealServer();

test('wrong preconditions delete nothing, whatever the kind', async () => {
  const ask = asker(real.target);
  await ask('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NS } });
  const served = (await servedKinds(ask)).filter((s) => Object.hasOwn(MINIMAL, s.id));
  for (const kind of served) await expectPreconditionsHold(ask, kind);
  expect(served.map((s) => s.id).sort()).toEqual(Object.keys(MINIMAL).sort());
});
