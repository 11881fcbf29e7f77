// Rules about what clients observe over time. rules.kube.ts runs them on the real server.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Embedded, startEmbedded } from './embeddedTarget.ts';
import { runCase } from './replay/runCase.ts';
import { RULES } from './rules/rules.ts';

let embedded: Embedded;
beforeAll(async () => {
  embedded = await startEmbedded();
});
afterAll(async () => {
  expect(embedded.unexpected).toEqual([]);
  await embedded.close();
});

test.each(RULES)('%s', async (_, file, one) => {
  expect(await runCase(file, one, embedded)).toEqual({ kind: 'passed' });
});
