// Rules that random sequences found: the embedded server answers as the real one did (regressions.kube.ts).

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Seen } from './differential/normalise.ts';
import { type Embedded, startEmbedded } from './embeddedTarget.ts';
import { CASES } from './regressions/cases.ts';
import { runRegressions } from './regressions/run.ts';

const recorded = JSON.parse(
  readFileSync(new URL('./fixtures/regressions.json', import.meta.url), 'utf8'),
) as Record<string, Seen>;

let embedded: Embedded;
let seen: Record<string, Seen>;
beforeAll(async () => {
  embedded = await startEmbedded();
  seen = await runRegressions(embedded);
});
afterAll(async () => {
  expect(embedded.unexpected).toEqual([]);
  await embedded.close();
});

test.each(CASES.map(({ name }) => name))('%s', (name) => {
  expect(seen[name]).toEqual(recorded[name]);
});

test('the fixture contains no other case', () => {
  expect(Object.keys(recorded).sort()).toEqual(CASES.map(({ name }) => name).sort());
});
