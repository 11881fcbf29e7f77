// Authorization on the real server is as recorded in the fixture. access.test.ts compares the embedded server with the
// fixture. Run with RECORD=1 to rewrite the fixture.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Answered, runAccess, runImpersonation, runRoles } from './access/run.ts';
import { runTokens } from './access/runTokens.ts';
import { useRealServer } from './realServer.ts';

const real = useRealServer();

const fixture = (name: string) => new URL(`./fixtures/${name}.json`, import.meta.url);
// By then the server has observed all roles.
const SETTLE_MS = 500;
const RECORDING = process.env.RECORD === '1';
const recorded = (name: string): Answered[] =>
  RECORDING ? [] : (JSON.parse(readFileSync(fixture(name), 'utf8')) as Answered[]);

test.each([
  // First, because the server remembers the last way in which a user was impersonated.
  ['who may act as whom', 'impersonation', runImpersonation],
  ['who may do what', 'access', runAccess],
  ['which right a request takes', 'roles', runRoles],
  ['what tokens are good for', 'tokens', runTokens],
] as const)('%s, as recorded', async (_, name, run) => {
  const expected = recorded(name);
  const options = RECORDING ? { settleMs: SETTLE_MS } : { expected };
  const seen = await run(real.target, `${name}-conversation`, options);
  if (RECORDING) writeFileSync(fixture(name), `${JSON.stringify(seen, null, 1)}\n`);
  else expect(seen).toEqual(expected);
});
