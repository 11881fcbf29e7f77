import { instant } from '@lapse/base/instant';
import { expect, test } from 'vitest';
import { findCondition, setCondition } from './conditions.ts';
import type { Condition } from './kinds/builtin.ts';

const NOW = instant(Date.parse('2026-03-01T10:00:00Z'));
const OLD = '2026-02-01T00:00:00Z';
const NEW = '2026-03-01T10:00:00Z';

const ready = (change: Partial<Condition> = {}): Condition => ({
  type: 'Ready',
  status: 'True',
  reason: 'Done',
  message: 'done',
  lastTransitionTime: OLD,
  observedGeneration: 1,
  ...change,
});
const synced: Condition = { type: 'Synced', status: 'True', lastTransitionTime: OLD };

test.each<[string, Condition[] | undefined, Condition, Condition[]]>([
  ['is the only one if there are no conditions', undefined, ready(), [ready({ lastTransitionTime: NEW })]],
  ['is appended if its type is new', [synced], ready(), [synced, ready({ lastTransitionTime: NEW })]],
  [
    'replaces the one of its type in place, with the current time if the status changes',
    [ready(), synced],
    ready({ status: 'False', reason: 'Lost', message: 'lost', observedGeneration: 2 }),
    [
      ready({
        status: 'False',
        reason: 'Lost',
        message: 'lost',
        observedGeneration: 2,
        lastTransitionTime: NEW,
      }),
      synced,
    ],
  ],
  [
    'keeps the transition time if only reason, message or generation change',
    [ready()],
    ready({ reason: 'Still', observedGeneration: 2 }),
    [ready({ reason: 'Still', observedGeneration: 2 })],
  ],
  [
    'gets the current time if the old one has none',
    [{ type: 'Ready', status: 'True' }],
    ready(),
    [ready({ lastTransitionTime: NEW })],
  ],
  [
    'loses the fields that the new one lacks',
    [ready({ lastProbeTime: OLD })],
    { type: 'Ready', status: 'True' },
    [{ type: 'Ready', status: 'True', lastTransitionTime: OLD }],
  ],
  [
    'replaces all conditions of its type',
    [ready(), synced, ready({ status: 'False' })],
    ready({ reason: 'Still' }),
    [ready({ reason: 'Still' }), synced],
  ],
])('a condition that is set %s', (_name, before, next, expected) => {
  const frozen = before && Object.freeze(before.map((condition) => Object.freeze(condition)));
  expect(setCondition(frozen, next, NOW)).toEqual(expected);
});

test('setting the same condition returns the same conditions', () => {
  const conditions = [synced, ready()];
  expect(setCondition(conditions, ready({ lastTransitionTime: NEW }), NOW)).toBe(conditions);
});

test('a condition is found by its type', () => {
  expect(findCondition([synced, ready()], 'Ready')).toEqual(ready());
  expect(findCondition([synced], 'Ready')).toBeUndefined();
  expect(findCondition(undefined, 'Ready')).toBeUndefined();
});
