// Authorization on the embedded server: the requests that access.kube.ts sends to the real one, compared answer by
// answer.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Answered, runAccess, runImpersonation, runRoles } from './access/run.ts';
import { runTokens } from './access/runTokens.ts';
import { startEmbedded } from './embeddedTarget.ts';

const recorded = (name: string) =>
  JSON.parse(
    readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), 'utf8'),
  ) as readonly Answered[];

test.each([
  ['who may act as whom', 'impersonation', runImpersonation],
  ['who may do what', 'access', runAccess],
  ['which right a request takes', 'roles', runRoles],
  ['what tokens are good for', 'tokens', runTokens],
] as const)('%s, as on the real server', async (_, name, run) => {
  const embedded = await startEmbedded();
  const seen = await run(embedded, `${name}-conversation`);
  expect(embedded.unexpected).toEqual([]);
  for (const [i, answer] of recorded(name).entries()) expect(seen[i]).toEqual(answer);
  expect(seen).toHaveLength(recorded(name).length);
  await embedded.close();
});
