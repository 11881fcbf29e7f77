// Rights on the real server are what the fixture says: the embedded one is held to it in the fast round. Run with
// RECORD=1 to write the fixture anew.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Answered, playAccess, playImpersonation, playRoles } from './access/play.ts';
import { playTokens } from './access/playTokens.ts';
import { useRealServer } from './realServer.ts';

const real = useRealServer();

const fixture = (name: string) => new URL(`./fixtures/${name}.json`, import.meta.url);
// By then the server knows every role it was given.
const SETTLE_MS = 500;
const RECORDING = process.env.RECORD === '1';
const recorded = (name: string): Answered[] =>
  RECORDING ? [] : (JSON.parse(readFileSync(fixture(name), 'utf8')) as Answered[]);

test.each([
  // First: the server remembers in which way somebody last became another.
  ['who may act as whom', 'impersonation', playImpersonation],
  ['who may do what', 'access', playAccess],
  ['which right a request takes', 'roles', playRoles],
  ['what tokens are good for', 'tokens', playTokens],
] as const)('%s, as recorded', async (_, name, play) => {
  const expected = recorded(name);
  const options = RECORDING ? { settleMs: SETTLE_MS } : { expected };
  const seen = await play(real.target, `${name}-conversation`, options);
  if (RECORDING) writeFileSync(fixture(name), `${JSON.stringify(seen, null, 1)}\n`);
  else expect(seen).toEqual(expected);
});
