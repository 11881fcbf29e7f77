import { hours, instant, type Millis, parseTime, plus } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import type { Subject } from './accessReview.ts';
import { type AuthorProof, computeProof, type SealedAuthor } from './authorSeal.ts';

const jane: Subject = { username: 'jane', uid: '1', groups: ['devs'], extra: { scopes: ['a'] } };

const START = parseTime('2026-01-01T00:00:00Z');

const created = { creationTimestamp: '2026-01-01T00:00:00Z', uid: 'u1' };

describe('the age of a signature', () => {
  const account: Subject = {
    username: 'system:serviceaccount:ci:argo',
    groups: ['system:masters'],
    extra: { scopes: ['all'] },
  };
  const derived = {
    username: 'system:serviceaccount:ci:argo',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:ci', 'system:authenticated'],
  };
  const day = hours(24);
  const end = plus(START, day);
  const at = (length: number) => instant(START + length);
  const valid: AuthorProof = { kind: 'author', subject: jane, expiresAt: end };
  const expired: AuthorProof = { kind: 'expired', subject: jane, expiredAt: end };
  test.each<[string, SealedAuthor, number, Millis | undefined, AuthorProof]>([
    [
      'one millisecond before the end of its lifetime it is valid',
      { subject: jane, issuedAt: START },
      day - 1,
      day,
      valid,
    ],
    ['at the end of its lifetime it has expired', { subject: jane, issuedAt: START }, day, day, expired],
    [
      'without a lifetime it does not expire',
      { subject: jane, issuedAt: START },
      9 * day,
      undefined,
      { kind: 'author', subject: jane },
    ],
    [
      'without a time it is valid for its lifetime from the creation of its object',
      { subject: jane },
      day - 1,
      day,
      valid,
    ],
    [
      'without a time it expires its lifetime after the creation of its object',
      { subject: jane },
      day,
      day,
      expired,
    ],
    [
      'the signature of a service account does not expire and has only the groups of its name',
      { subject: account, issuedAt: START },
      9 * day,
      day,
      { kind: 'author', subject: derived },
    ],
    [
      'a user whose name only resembles a service account is a user',
      { subject: { ...jane, username: 'system:serviceaccount:a:b:c' }, issuedAt: START },
      day,
      day,
      { ...expired, subject: { ...jane, username: 'system:serviceaccount:a:b:c' } },
    ],
  ])('%s', (_rule, sealed, age, lifetime, expected) =>
    expect(computeProof(sealed, created, at(age), lifetime)).toEqual(expected),
  );
  test('a signature without any readable time has expired', () =>
    expect(computeProof({ subject: jane }, {}, START, day).kind).toBe('expired'));
});
