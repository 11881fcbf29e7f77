// Tests the combination of the decisions of several policies about one object: the reason and the deadline that count.

import { type Instant, millis } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import type { PolicyMode } from '#api/ttlPolicy';
import type { Basis, NotApplicable } from '#expiry/expiry';
import { combine, decidesFor, type PolicyExpiry } from './combine.ts';
import { at, compiled } from './policy.testkit.ts';

const BASIS: Basis = {
  finishedAt: at(0),
  finishRule: 'created',
  ttl: { kind: 'at', at: at(60), rule: 'spec.ttl' },
};
const NONE = millis(0);
const kept = (because: NotApplicable, note?: string): PolicyExpiry => ({
  kind: 'notApplicable',
  because,
  ...(note === undefined ? {} : { note }),
});
const error: PolicyExpiry = { kind: 'error', note: 'not a time' };
const waiting = (until: Instant): PolicyExpiry => ({ kind: 'waiting', until, ahead: NONE, because: BASIS });
const held: PolicyExpiry = { kind: 'held', until: at(30), ahead: millis(9000), because: BASIS };
const expired = (since: Instant): PolicyExpiry => ({ kind: 'expired', since, because: BASIS });

type Given = readonly [PolicyExpiry, from?: 'Created' | 'Finished', mode?: PolicyMode];
const combined = (...given: readonly Given[]) =>
  combine(
    given.map(([expiry, from = 'Finished', mode = 'Enforce'], i) => ({
      policy: compiled({ from, mode }, { name: `p${i}` }),
      expiry,
    })),
  );

/** Reasons in order of priority, highest first. */
const REASONS: readonly (readonly [string, PolicyExpiry])[] = [
  ['opted out', kept('opted out')],
  ['being deleted', kept('being deleted')],
  ['invalid TTL', kept('invalid TTL')],
  ['error', error],
  ['unfinished', kept('unfinished')],
];

describe('of two reasons to keep an object', () => {
  const pairs = REASONS.flatMap(([strong, first], i) =>
    REASONS.slice(i + 1).map(([weak, second]) => [strong, weak, first, second] as const),
  );
  test.each(pairs)(
    '"%s" is reported before "%s", in any order of policies',
    (strong, _weak, first, second) => {
      expect(combined([first], [second])).toMatchObject({ kind: 'kept', because: strong });
      expect(combined([second], [first])).toMatchObject({ kind: 'kept', because: strong });
    },
  );
});

describe('combined decisions', () => {
  test.each<[string, Given[], object]>([
    ...REASONS.map(([because, expiry]): [string, Given[], object] => [
      `"${because}" of one policy keeps what has expired for another`,
      [[expired(at(60))], [expiry]],
      { kind: 'kept', because },
    ]),
    ['a reason to keep has its note', [[kept('invalid TTL', 'not a duration')]], { note: 'not a duration' }],
    ['an error has its note', [[error]], { kind: 'kept', because: 'error', note: 'not a time' }],
    [
      'an unfinished object waits for its deadline by age',
      [[kept('unfinished')], [waiting(at(90)), 'Created']],
      { kind: 'waiting', until: at(90), held: false },
    ],
    [
      'an unfinished object whose age is not trusted is held',
      [[kept('unfinished')], [held, 'Created']],
      { kind: 'waiting', until: at(30), ends: at(60), held: true, ahead: 9000 },
    ],
    [
      'an unfinished object is kept when the policy by age has no TTL for it',
      [[kept('unfinished')], [kept('no TTL'), 'Created']],
      { kind: 'kept', because: 'unfinished' },
    ],
    [
      'an unfinished object is kept when the deadline of another policy is not by age',
      [[kept('unfinished')], [expired(at(60))]],
      { kind: 'kept', because: 'unfinished' },
    ],
    ['the later of two deadlines counts', [[waiting(at(90))], [expired(at(60))]], { until: at(90) }],
    [
      'the policy that expired last acts, in any order',
      [[expired(at(70))], [expired(at(60))]],
      { kind: 'expired', since: at(70), by: { name: 'TTLPolicy ci/p0' } },
    ],
    ['policies without a TTL for the object decide nothing', [[kept('no TTL')]], { kind: 'none' }],
    [
      'an error of a policy in Enforce keeps an object that has expired for a policy in DryRun',
      [[error], [expired(at(60)), 'Created', 'DryRun']],
      { kind: 'kept', because: 'error', mode: 'Enforce' },
    ],
    [
      'if the object is unfinished for both, the policy in Enforce decides',
      [[kept('unfinished')], [kept('unfinished'), 'Finished', 'DryRun']],
      { kind: 'kept', because: 'unfinished', mode: 'Enforce' },
    ],
  ])('%s', (_rule, given, expected) => {
    expect(combined(...given)).toMatchObject(expected);
  });

  test('a reason to keep without a note has no field note', () => {
    expect(combined([kept('unfinished')])).not.toHaveProperty('note');
  });
});

test.each<[PolicyMode, PolicyMode, boolean]>([
  ['Enforce', 'Enforce', true],
  ['Enforce', 'DryRun', true],
  ['DryRun', 'Paused', true],
  ['DryRun', 'DryRun', true],
  ['DryRun', 'Enforce', false],
  ['Paused', 'DryRun', false],
])('a decision of policies in %s applies to a policy in %s: %s', (mode, own, expected) => {
  expect(decidesFor(mode, own)).toBe(expected);
});
