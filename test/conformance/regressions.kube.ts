// Rules that random sequences found, on the real server: its answers are as recorded in the fixture. regressions.test.ts
// compares the embedded server with it. Run with RECORD=1 to rewrite the fixture.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { useRealServer } from './realServer.ts';
import { runRegressions } from './regressions/run.ts';

const FIXTURE = new URL('./fixtures/regressions.json', import.meta.url);

const real = useRealServer();

test('each answer is as recorded', async () => {
  const seen = await runRegressions(real.target);
  if (process.env.RECORD === '1') writeFileSync(FIXTURE, `${JSON.stringify(seen, null, 1)}\n`);
  expect(seen).toEqual(JSON.parse(readFileSync(FIXTURE, 'utf8')));
});
