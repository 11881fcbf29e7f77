// Rights on the embedded server: the conversation that access.kube.ts has with the real one, answer by answer.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Answered, playAccess } from './access/play.ts';
import { startEmbedded } from './embeddedTarget.ts';

const recorded = JSON.parse(
  readFileSync(new URL('./fixtures/access.json', import.meta.url), 'utf8'),
) as Answered[];

test('who may do what, as on the real server', async () => {
  const embedded = await startEmbedded();
  const seen = await playAccess(embedded, 'access-conversation');
  expect(embedded.unexpected).toEqual([]);
  for (const [i, answer] of seen.entries()) expect(answer).toEqual(recorded[i]);
  expect(seen).toHaveLength(recorded.length);
  await embedded.close();
});
