// The real server, for rules.test.ts.

import { expect, test } from 'vitest';
import { useRealServer } from './realServer.ts';
import { runCase } from './replay/runCase.ts';
import { RULES } from './rules/rules.ts';

const real = useRealServer();

test.each(RULES)('%s', async (_, file, one) => {
  expect(await runCase(file, one, real.target)).toEqual({ kind: 'passed' });
});
