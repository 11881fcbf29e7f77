import { expect, test } from 'vitest';
import { type KnownList, unexpectedResults, updated } from './known.ts';
import type { CaseResult } from './replay/types.ts';

const passed: CaseResult = { kind: 'passed' };
const failed: CaseResult = { kind: 'failed', difference: 'status: expected 200, got 500' };
const known: KnownList = {
  'a / b': { needs: 'todo', reason: 'old' },
  'a / c': { needs: 'deliberate', reason: 'why' },
};
const results = (entries: Record<string, CaseResult>) => new Map(Object.entries(entries));

test('a listed failure and an unlisted pass are expected', () => {
  expect(unexpectedResults(results({ 'a / b': failed, 'a / c': failed, 'a / d': passed }), known)).toEqual(
    [],
  );
});

test.each<[string, Record<string, CaseResult>, string]>([
  ['an unlisted failure', { 'a / b': failed, 'a / c': failed, 'a / d': failed }, 'fails: a / d'],
  ['a listed pass', { 'a / b': passed, 'a / c': failed }, 'passes and is still listed as known: a / b'],
  [
    'an unlisted skip',
    { 'a / b': failed, 'a / c': failed, x: { kind: 'skipped', why: 'no' } },
    'was skipped: x',
  ],
  ['a title that no case has', { 'a / b': failed }, 'is listed as known and does not exist: a / c'],
])('%s is reported as unexpected', (_, entries, text) => {
  expect(unexpectedResults(results(entries), known).join('\n')).toContain(text);
});

test('an update drops passes, keeps hand-written reasons, refreshes todo and adds new failures', () => {
  const next = updated(
    known,
    results({ 'a / b': failed, 'a / c': failed, 'a / d': passed, 'apply / e': failed }),
  );
  expect(next).toEqual({
    'a / b': { needs: 'todo', reason: 'status: expected 200, got 500' },
    'a / c': { needs: 'deliberate', reason: 'why' },
    'apply / e': { needs: 'apply', reason: 'status: expected 200, got 500' },
  });
});
