import { instant } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import type { LimitExceeded, LimitsStatus } from '#api/limits';
import {
  APPROVAL_ANNOTATION,
  APPROVER_ANNOTATION,
  endApproval,
  formatApproval,
  parseApproval,
  recordApprover,
  reviewApproval,
} from './approval.ts';

const NOW = instant(1_750_000_000_000);
const AT = '2025-06-15T15:06:40Z';
const exceeded: LimitExceeded = {
  limit: 'maxDeletions',
  from: 'spec',
  allowed: 100,
  deletions: 100,
  due: 245,
  at: AT,
  generation: 3,
};
const STOPPED: LimitsStatus = { state: 'Exceeded', exceeded };

const review = (annotation: string | undefined, due = 245, state = STOPPED, isRecorded = true) =>
  reviewApproval(state, {
    metadata: {
      generation: 3,
      annotations: {
        [APPROVER_ANNOTATION]: 'jane',
        ...(annotation === undefined ? {} : { [APPROVAL_ANNOTATION]: annotation }),
      },
    },
    due,
    now: NOW,
    isRecorded,
  });

describe('reviewApproval', () => {
  const text = formatApproval({ generation: 3, deletions: 245, at: AT });

  test('the generation and enough deletions: the rule goes on, and the approval is recorded', () => {
    expect(review(text)).toEqual({
      kind: 'accepted',
      state: {
        approved: { generation: 3, deletions: 245, used: 0 },
        approvals: [{ generation: 3, deletions: 245, at: AT, by: 'jane', annotation: text }],
      },
    });
  });

  test('without the webhook the approver is not recorded: any client could name anyone', () => {
    const found = review(text, 245, STOPPED, false);
    expect(found.kind === 'accepted' && found.state.approvals?.[0]).not.toHaveProperty('by');
  });

  test.each([
    ['no annotation', undefined, 245, { kind: 'none' }],
    [
      'one more object is due than approved',
      text,
      246,
      { kind: 'void', why: '245 deletions are approved, but 246 objects are due' },
    ],
    [
      'another generation',
      formatApproval({ generation: 2, deletions: 9999 }),
      1,
      { kind: 'void', why: 'the approval is for generation 2 of the spec, which is 3 now' },
    ],
    [
      'not JSON',
      'yes',
      1,
      { kind: 'void', why: `the annotation ${APPROVAL_ANNOTATION} is not {"generation":…,"deletions":…}` },
    ],
  ])('%s', (_, annotation, due, expected) => {
    expect(review(annotation, due)).toEqual(expected);
  });

  test('an approval is accepted once', () => {
    const first = review(text);
    const used = first.kind === 'accepted' ? first.state : {};
    expect(review(text, 245, { ...used, ...STOPPED })).toEqual({ kind: 'none' });
  });

  test('a rule that is not stopped needs no approval', () => {
    expect(review(text, 245, {})).toEqual({ kind: 'none' });
  });

  test('zero deletions restart a rule that has nothing to delete', () => {
    const found = review(formatApproval({ generation: 3, deletions: 0 }), 0);
    expect(found.kind === 'accepted' && found.state.approved).toBeUndefined();
    expect(found.kind).toBe('accepted');
  });
});

test.each([
  '',
  '{}',
  'null',
  '[]',
  '{"generation":1}',
  '{"generation":1,"deletions":-1}',
  '{"generation":"1","deletions":1}',
])('an approval that cannot be read: %s', (text) => expect(parseApproval(text)).toBeUndefined());

test('the rest of an approval ends when nothing is due, or the spec changes', () => {
  const state: LimitsStatus = { approved: { generation: 3, deletions: 10, used: 4 } };
  expect(endApproval(state, 1, 3)).toBe(state);
  expect(endApproval(state, 0, 3)).toEqual({});
  expect(endApproval(state, 1, 4)).toEqual({});
});

describe('recordApprover', () => {
  const approval = { [APPROVAL_ANNOTATION]: 'x' };
  test('the caller who changes the approval is recorded', () => {
    expect(recordApprover(approval, {}, 'jane')).toEqual({ ...approval, [APPROVER_ANNOTATION]: 'jane' });
  });
  test('a caller cannot name another approver', () => {
    const forged = { ...approval, [APPROVER_ANNOTATION]: 'admin' };
    expect(recordApprover(forged, {}, 'jane')).toEqual({ ...approval, [APPROVER_ANNOTATION]: 'jane' });
    const stored = { ...approval, [APPROVER_ANNOTATION]: 'jane' };
    expect(recordApprover(forged, stored, 'eve')).toEqual(stored);
    expect(recordApprover({ [APPROVER_ANNOTATION]: 'admin' }, {}, 'eve')).toEqual({});
  });
  test('other changes leave the annotations as they are', () => {
    const stored = { ...approval, [APPROVER_ANNOTATION]: 'jane', team: 'a' };
    expect(recordApprover(stored, stored, 'eve')).toBe(stored);
  });
});
