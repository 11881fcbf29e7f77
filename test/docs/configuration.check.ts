import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { REFERENCE, writeReference } from './configuration.ts';

test('docs/reference/configuration.md is what the tables say (node test/docs/configuration.ts writes it)', () => {
  expect(readFileSync(REFERENCE, 'utf8')).toBe(writeReference());
});
