import type { Condition } from '@lapse/kube/api/kinds/builtin';
import { describe, expect, test } from 'vitest';
import type { LimitsStatus } from '#api/limits';
import type { TTLPolicyStatus } from '#api/ttlPolicy';
import { at, policy } from './policy.testkit.ts';
import { isEnforced, type ReviewSituation, reviewLimits } from './policyLimits.ts';

const ready = (reason: string): Condition[] => [
  { type: 'Ready', status: reason === 'Enforcing' ? 'True' : 'False', reason },
];

describe('isEnforced', () => {
  test.each<[string, TTLPolicyStatus, boolean]>([
    ['a new policy', {}, false],
    ['this generation was activated', { enforcedGeneration: 2 }, true],
    ['an earlier generation was activated', { enforcedGeneration: 1, observedGeneration: 2 }, false],
    [
      'a status of a version without limits, at work',
      { observedGeneration: 2, conditions: ready('Enforcing') },
      true,
    ],
    [
      'a status of a version without limits, before the change',
      { observedGeneration: 1, conditions: ready('Enforcing') },
      false,
    ],
    [
      'a status of a version without limits, not at work',
      { observedGeneration: 2, conditions: ready('CannotRead') },
      false,
    ],
  ])('%s', (_, status, expected) => {
    expect(isEnforced({ ...policy({}, { generation: 2 }), status })).toBe(expected);
  });
});

const review = (state: LimitsStatus, more: Partial<ReviewSituation> = {}) =>
  reviewLimits(state, {
    policy: policy({}, { generation: 2 }),
    mode: 'Enforce',
    counts: { due: 501 },
    now: at(0),
    isActivated: false,
    firstActivation: 500,
    isRecorded: true,
    ...more,
  });

describe('reviewLimits', () => {
  test('one object more than firstActivation stops a policy that starts to delete', () => {
    expect(review({})).toMatchObject({
      limits: { state: 'Exceeded', exceeded: { limit: 'firstActivation', allowed: 500, due: 501 } },
    });
    expect(review({})).not.toHaveProperty('enforcedGeneration');
  });
  test('exactly firstActivation objects do not', () => {
    expect(review({}, { counts: { due: 500 } })).toEqual({ limits: {}, enforcedGeneration: 2 });
  });
  test('0 switches it off', () => {
    expect(review({}, { firstActivation: 0 })).toEqual({ limits: {}, enforcedGeneration: 2 });
  });
  test('a policy that deletes already is not stopped', () => {
    expect(review({}, { isActivated: true })).toEqual({ limits: {}, enforcedGeneration: 2 });
  });
  test.each(['DryRun', 'Paused'] as const)('a policy in mode %s shows that it would be stopped', (mode) => {
    expect(review({}, { mode })).toEqual({ limits: { state: 'WouldExceed' } });
    expect(review({ state: 'WouldExceed' }, { mode, counts: { due: 1 } })).toEqual({ limits: {} });
  });
  test('a stopped policy in mode DryRun is still stopped when it enforces again', () => {
    const { limits } = review({});
    const dry = review(limits, { mode: 'DryRun', counts: { due: 0 } });
    expect(dry.limits).toEqual({ ...limits, state: 'WouldExceed' });
    expect(review(dry.limits, { counts: { due: 0 } }).limits).toEqual(limits);
  });
});
