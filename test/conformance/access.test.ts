// Authorization on the embedded server: the requests that access.kube.ts sends to the real one, compared answer by
// answer.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Answered, playAccess, playImpersonation, playRoles } from './access/play.ts';
import { playTokens } from './access/playTokens.ts';
import { startEmbedded } from './embeddedTarget.ts';

const recorded = (name: string) =>
  JSON.parse(
    readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), 'utf8'),
  ) as readonly Answered[];

test.each([
  ['who may act as whom', 'impersonation', playImpersonation],
  ['who may do what', 'access', playAccess],
  ['which right a request takes', 'roles', playRoles],
  ['what tokens are good for', 'tokens', playTokens],
] as const)('%s, as on the real server', async (_, name, play) => {
  const embedded = await startEmbedded();
  const seen = await play(embedded, `${name}-conversation`);
  expect(embedded.unexpected).toEqual([]);
  for (const [i, answer] of recorded(name).entries()) expect(seen[i]).toEqual(answer);
  expect(seen).toHaveLength(recorded(name).length);
  await embedded.close();
});
