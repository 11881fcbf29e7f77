import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { REFERENCE, runAll, writeReference } from './reference.ts';

it('docs/reference/cel.md is what a run of the vectors gives (node test/cel/reference.ts writes it)', () => {
  expect(readFileSync(REFERENCE, 'utf8')).toBe(writeReference(runAll()));
});
