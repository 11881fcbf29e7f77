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
    ['takes a Lease without a holder', {}, undefined, 0, 'take'],
    ['takes a released Lease at once', held('', 'r1', 1), seen('', 'r1', 0), 0, 'take'],
    ['takes its own Lease', held('me'), undefined, 0, 'take'],
    [
      'waits the full duration for a newly observed Lease of another holder',
      held('other'),
      undefined,
      100,
      15_000,
    ],
    [
      'waits the rest of the duration of an unchanged Lease',
      held('other'),
      seen('other', 'r1', 100),
      5100,
      10_000,
    ],
    ['waits until the last millisecond', held('other'), seen('other', 'r1', 100), 15_099, 1],
    [
      'takes a Lease that stayed unchanged for its duration',
      held('other'),
      seen('other', 'r1', 100),
      15_100,
      'take',
    ],
    ['waits the full duration after a renewal', held('other', 'r2'), seen('other', 'r1', 0), 14_000, 15_000],
    [
      'waits the full duration after a change of the holder',
      held('third'),
      seen('other', 'r1', 0),
      99_000,
      15_000,
    ],
    ['uses the duration in the Lease', held('other', 'r1', 60), seen('other', 'r1', 0), 15_000, 45_000],
    [
      'does not compare times in the Lease with the local clock',
      held('other', '1999-01-01T00:00:00Z'),
      undefined,
      0,
      15_000,
    ],
    ['takes a Lease without a duration', { holderIdentity: 'other' }, undefined, 5, 'take'],
  ])('%s', (_rule, spec, before, now, expected) => {
    const claim = computeClaim(spec, 'me', before, millis(now));
    expect(claim.kind === 'take' ? 'take' : claim.left).toBe(expected);
  });
});

describe('Lease specs', () => {
  const taking = { me: 'me', durationSeconds: 15, now: VIRTUAL_START };
  test('a new Lease has this process as holder and no transitions', () => {
    expect(buildTaken(undefined, taking)).toEqual({
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      acquireTime: T0,
      renewTime: T0,
      leaseTransitions: 0,
    });
  });
  test('a renewal keeps acquireTime and leaseTransitions', () => {
    const before = { ...held('me'), acquireTime: 'then', leaseTransitions: 3 };
    expect(buildTaken(before, taking)).toMatchObject({
      acquireTime: 'then',
      leaseTransitions: 3,
      renewTime: T0,
    });
  });
  test('a takeover changes acquireTime and leaseTransitions', () => {
    const before = { ...held('other'), acquireTime: 'then', leaseTransitions: 3 };
    expect(buildTaken(before, taking)).toMatchObject({ acquireTime: T0, leaseTransitions: 4 });
  });
  test('a released Lease has no holder and a short duration', () => {
    expect(buildReleased(held('me'), VIRTUAL_START)).toMatchObject({
      holderIdentity: '',
      leaseDurationSeconds: 1,
    });
  });
});
