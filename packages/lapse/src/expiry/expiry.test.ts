import { type Instant, instant, type Millis, millis, seconds } from '@lapse/base/instant';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { computeExpiry, deadlineOf, describeExpiry, type Expiry, type Finish, type Ttl } from './expiry.ts';

const START = Date.parse('2026-01-01T12:00:00Z');
const at = (second: number): Instant => instant(START + second * 1000);
const finished = (second: number): Finish => ({
  kind: 'finished',
  at: at(second),
  rule: 'condition Complete',
});
const lasting = (second: number): Ttl => ({ kind: 'after', length: seconds(second), rule: 'spec.ttl' });
const ending = (second: number): Ttl => ({ kind: 'at', at: at(second), rule: 'lapse.dev/expires-at' });
const UNFINISHED: Finish = { kind: 'unfinished' };
const UNKNOWN: Finish = { kind: 'timeUnknown', note: 'no lastTransitionTime' };
const DELETING: Finish = { kind: 'beingDeleted' };
const NEVER: Ttl = { kind: 'never' };
const NONE: Ttl = { kind: 'none' };
const INVALID: Ttl = { kind: 'invalid', note: '"soon" is not a number' };
const not = (because: string, note?: string) => ({
  kind: 'notApplicable',
  because,
  ...(note === undefined ? {} : { note }),
});
const MAX = 2 ** 31 - 1;

describe('computeExpiry', () => {
  test.each<[rule: string, Finish, Ttl, now: Instant, expected: object, tolerance?: Millis]>([
    ['an unfinished object never expires', UNFINISHED, lasting(60), at(1e6), not('unfinished')],
    ['an object without a TTL never expires', finished(0), NONE, at(1e9), not('no TTL')],
    ['an unfinished object without a TTL reports the missing TTL', UNFINISHED, NONE, at(0), not('no TTL')],
    ['an object that is being deleted does not expire', DELETING, lasting(0), at(9), not('being deleted')],
    ['opting out overrides an expired TTL', finished(0), NEVER, at(1e9), not('opted out')],
    ['opting out is reported even before the finish', UNFINISHED, NEVER, at(0), not('opted out')],
    [
      'an object with an unknown finish time never expires',
      UNKNOWN,
      lasting(0),
      at(9),
      not('finish time unknown', 'no lastTransitionTime'),
    ],
    ['an object without a TTL does not report its unknown finish time', UNKNOWN, NONE, at(9), not('no TTL')],
    [
      'an invalid TTL never deletes',
      finished(0),
      INVALID,
      at(1e9),
      not('invalid TTL', '"soon" is not a number'),
    ],
    [
      'an invalid TTL is reported before the finish',
      UNFINISHED,
      INVALID,
      at(0),
      not('invalid TTL', '"soon" is not a number'),
    ],
    [
      'a negative length is an invalid TTL',
      finished(0),
      lasting(-1),
      at(9),
      not('invalid TTL', '-1000 ms is not a length of time'),
    ],
    [
      'NaN is an invalid TTL',
      finished(0),
      lasting(Number.NaN),
      at(9),
      not('invalid TTL', 'NaN ms is not a length of time'),
    ],
    [
      'one millisecond before its deadline an object waits',
      finished(0),
      lasting(60),
      at(59.999),
      { kind: 'waiting', until: at(60), ahead: 0 },
    ],
    [
      'exactly at its deadline an object has expired',
      finished(0),
      lasting(60),
      at(60),
      { kind: 'expired', since: at(60) },
    ],
    [
      'an object that is evaluated late has expired since its deadline',
      finished(0),
      lasting(60),
      at(9999),
      { kind: 'expired', since: at(60) },
    ],
    [
      'an object with TTL 0 expires when it finishes',
      finished(5),
      lasting(0),
      at(5),
      { kind: 'expired', since: at(5) },
    ],
    [
      'an object with a TTL of 68 years waits',
      finished(0),
      lasting(MAX),
      at(0),
      { kind: 'waiting', until: at(MAX) },
    ],
    [
      'a fixed deadline does not depend on the finish time',
      finished(0),
      ending(30),
      at(29),
      { kind: 'waiting', until: at(30) },
    ],
    [
      'a fixed deadline before the finish has expired at once',
      finished(40),
      ending(30),
      at(40),
      { kind: 'expired', since: at(30) },
    ],
    [
      'an unfinished object with a fixed deadline does not expire',
      UNFINISHED,
      ending(30),
      at(40),
      not('unfinished'),
    ],
    [
      'a finish in the future lengthens the wait',
      finished(10),
      lasting(60),
      at(0),
      { kind: 'waiting', until: at(70), ahead: 10_000 },
      seconds(30),
    ],
    [
      'a finish exactly at the tolerance is accepted',
      finished(30),
      lasting(0),
      at(0),
      { kind: 'waiting', until: at(30), ahead: 30_000 },
      seconds(30),
    ],
    [
      'a finish beyond the tolerance is held until it is within the tolerance',
      finished(31),
      lasting(0),
      at(0),
      { kind: 'held', until: at(1), ahead: 31_000 },
      seconds(30),
    ],
    [
      'a finish beyond the tolerance is held even with a fixed deadline in the past',
      finished(3600),
      ending(-5),
      at(0),
      { kind: 'held', until: at(3570) },
      seconds(30),
    ],
    [
      'an unreadable finish time is unknown',
      finished(Number.NaN),
      lasting(5),
      at(0),
      not('finish time unknown', 'the finish time is invalid'),
    ],
    [
      'an infinite TTL gives no deadline',
      finished(0),
      lasting(Number.POSITIVE_INFINITY),
      at(0),
      not('finish time unknown', 'the finish time is invalid'),
    ],
  ])('%s', (_rule, finish, ttl, now, expected, tolerance) => {
    expect(computeExpiry(finish, ttl, now, tolerance)).toMatchObject(expected);
  });

  test('an object expires exactly at finish + ttl', () => {
    const moment = fc.integer({ min: 0, max: 4e12 });
    fc.assert(
      fc.property(moment, fc.integer({ min: 0, max: MAX }), moment, (finish, ttl, now) => {
        const expiry = computeExpiry(
          { kind: 'finished', at: instant(finish), rule: 'x' },
          { kind: 'after', length: seconds(ttl), rule: 'y' },
          instant(now),
          seconds(30),
        );
        expect(expiry.kind === 'expired').toBe(now >= finish + ttl * 1000);
        // A caller that wakes at each returned deadline sees the expiry at the right instant, after few steps.
        let state: Expiry = expiry;
        let steps = 0;
        while (state.kind !== 'expired' && steps++ < 3) {
          const next = deadlineOf(state)!;
          expect(next).toBeGreaterThan(now);
          state = computeExpiry(
            { kind: 'finished', at: instant(finish), rule: 'x' },
            { kind: 'after', length: seconds(ttl), rule: 'y' },
            next,
            seconds(30),
          );
        }
        expect(state).toMatchObject({ kind: 'expired', since: finish + ttl * 1000 });
      }),
      { numRuns: 300 },
    );
  });
});

describe('describeExpiry', () => {
  const describeAt = (finish: Finish, ttl: Ttl, now: Instant) =>
    describeExpiry(computeExpiry(finish, ttl, now, seconds(30)));
  test.each([
    [describeAt(UNFINISHED, lasting(1), at(0)), 'unfinished'],
    [describeAt(UNKNOWN, lasting(1), at(0)), 'finish time unknown: no lastTransitionTime'],
    [
      describeAt(finished(0), lasting(3600), at(5)),
      'finished 2026-01-01T12:00:00Z (condition Complete), TTL 1h0m0s (spec.ttl): ends 2026-01-01T13:00:00Z',
    ],
    [
      describeAt(finished(0), lasting(60), at(61)),
      'finished 2026-01-01T12:00:00Z (condition Complete), TTL 1m0s (spec.ttl): ended 2026-01-01T12:01:00Z',
    ],
    [
      describeAt(finished(0), ending(60), at(5)),
      'finished 2026-01-01T12:00:00Z (condition Complete), ends 2026-01-01T12:01:00Z (lapse.dev/expires-at): ends 2026-01-01T12:01:00Z',
    ],
    [
      describeAt(finished(3600), lasting(60), at(0)),
      'finished 2026-01-01T13:00:00Z (condition Complete), TTL 1m0s (spec.ttl): held, the finish lies 1h0m0s in the future',
    ],
  ])('%s', (said, expected) => expect(said).toBe(expected));

  test('deadlineOf returns the next evaluation, and undefined if time changes nothing', () => {
    expect(deadlineOf(computeExpiry(finished(0), lasting(9), at(0)))).toBe(at(9));
    expect(deadlineOf(computeExpiry(finished(0), lasting(9), at(99)))).toBe(at(9));
    expect(deadlineOf(computeExpiry(finished(99), lasting(9), at(0), millis(0)))).toBe(at(99));
    expect(deadlineOf(computeExpiry(finished(0), NONE, at(99)))).toBeUndefined();
  });
});
