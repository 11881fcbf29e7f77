import { millis } from '@lapse/base/instant';
import { VIRTUAL_START } from '@lapse/base/virtualClock';
import { describe, expect, test } from 'vitest';
import { buildReleased, buildTaken, computeClaim, type LeaseSpec, type Observed } from './lease.ts';

const T0 = '2026-01-01T00:00:00.000000Z';
const held = (holder: string, renewTime = 'r1', duration = 15): LeaseSpec => ({
  holderIdentity: holder,
  renewTime,
  leaseDurationSeconds: duration,
});
const seen = (holder: string, renewTime: string, since: number): Observed => ({
  holder,
  renewTime,
  since: millis(since),
});

describe('computeClaim', () => {
  test.each<[string, LeaseSpec, Observed | undefined, number, 'take' | number]>([
    ['a record without a holder is free', {}, undefined, 0, 'take'],
    ['a released record is free at once', held('', 'r1', 1), seen('', 'r1', 0), 0, 'take'],
    ['our own record is ours', held('me'), undefined, 0, 'take'],
    [
      "somebody else's, seen for the first time, is waited for in full",
      held('other'),
      undefined,
      100,
      15_000,
    ],
    ['seen unchanged for a while: the rest', held('other'), seen('other', 'r1', 100), 5100, 10_000],
    ['one millisecond before its end', held('other'), seen('other', 'r1', 100), 15_099, 1],
    ['unchanged for its whole duration: lapsed', held('other'), seen('other', 'r1', 100), 15_100, 'take'],
    ['renewed since: from the start', held('other', 'r2'), seen('other', 'r1', 0), 14_000, 15_000],
    ['changed hands since: from the start', held('third'), seen('other', 'r1', 0), 99_000, 15_000],
    ["the record's own duration counts", held('other', 'r1', 60), seen('other', 'r1', 0), 15_000, 45_000],
    [
      'times in the record are not compared with our clock',
      held('other', '1999-01-01T00:00:00Z'),
      undefined,
      0,
      15_000,
    ],
    ['a record without a duration has lapsed', { holderIdentity: 'other' }, undefined, 5, 'take'],
  ])('%s', (_rule, spec, before, now, expected) => {
    const claim = computeClaim(spec, 'me', before, millis(now));
    expect(claim.kind === 'take' ? 'take' : claim.left).toBe(expected);
  });
});

describe('records', () => {
  const taking = { me: 'me', durationSeconds: 15, now: VIRTUAL_START };
  test('a new one', () => {
    expect(buildTaken(undefined, taking)).toEqual({
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      acquireTime: T0,
      renewTime: T0,
      leaseTransitions: 0,
    });
  });
  test('renewed: the time of acquisition and the count stay', () => {
    const before = { ...held('me'), acquireTime: 'then', leaseTransitions: 3 };
    expect(buildTaken(before, taking)).toMatchObject({
      acquireTime: 'then',
      leaseTransitions: 3,
      renewTime: T0,
    });
  });
  test('taken over: both change', () => {
    const before = { ...held('other'), acquireTime: 'then', leaseTransitions: 3 };
    expect(buildTaken(before, taking)).toMatchObject({ acquireTime: T0, leaseTransitions: 4 });
  });
  test('released: no holder, and nobody need wait', () => {
    expect(buildReleased(held('me'), VIRTUAL_START)).toMatchObject({
      holderIdentity: '',
      leaseDurationSeconds: 1,
    });
  });
});
