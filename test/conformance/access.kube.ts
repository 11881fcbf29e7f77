// Rights on the real server are what the fixture says: the embedded one is held to it in the fast round. Run with
// RECORD=1 to write the fixture anew.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Answered, playAccess } from './access/play.ts';
import { playTokens } from './access/playTokens.ts';
import { useRealServer } from './realServer.ts';

const real = useRealServer();

const fixture = (name: string) => new URL(`./fixtures/${name}.json`, import.meta.url);
const RECORDING = process.env.RECORD === '1';
const recorded = (name: string): Answered[] =>
  RECORDING ? [] : (JSON.parse(readFileSync(fixture(name), 'utf8')) as Answered[]);

test.each([
  ['who may do what', 'access', playAccess],
  ['what tokens are good for', 'tokens', playTokens],
] as const)('%s, as recorded', async (_, name, play) => {
  const expected = recorded(name);
  const seen = await play(real.target, `${name}-conversation`, expected);
  if (RECORDING) writeFileSync(fixture(name), `${JSON.stringify(seen, null, 1)}\n`);
  else expect(seen).toEqual(expected);
});
