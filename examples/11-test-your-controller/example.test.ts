// The example keeps its word: either test is at most thirty lines.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test.each(['team-config.test.ts', 'stale-locks.test.ts'])('%s has at most thirty lines', (file) => {
  const lines = readFileSync(join(import.meta.dirname, file), 'utf8')
    .trimEnd()
    .split('\n');
  expect(lines.length).toBeLessThanOrEqual(30);
});
