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
    ['without a TTL nothing expires', finished(0), NONE, at(1e9), not('no TTL')],
    ['without a TTL nothing expires, finished or not', UNFINISHED, NONE, at(0), not('no TTL')],
    ['an object being deleted is left to its deletion', DELETING, lasting(0), at(9), not('being deleted')],
    ['opting out wins over a TTL that is over', finished(0), NEVER, at(1e9), not('opted out')],
    ['opting out is said even before the finish', UNFINISHED, NEVER, at(0), not('opted out')],
    [
      'an unknown finish time never expires',
      UNKNOWN,
      lasting(0),
      at(9),
      not('finish time unknown', 'no lastTransitionTime'),
    ],
    ['without a TTL an unknown finish time is nobody’s business', UNKNOWN, NONE, at(9), not('no TTL')],
    [
      'an invalid TTL never deletes',
      finished(0),
      INVALID,
      at(1e9),
      not('invalid TTL', '"soon" is not a number'),
    ],
    [
      'an invalid TTL is told before the finish',
      UNFINISHED,
      INVALID,
      at(0),
      not('invalid TTL', '"soon" is not a number'),
    ],
    [
      'a negative length is no TTL',
      finished(0),
      lasting(-1),
      at(9),
      not('invalid TTL', '-1000 ms is not a length of time'),
    ],
    [
      'NaN is no TTL',
      finished(0),
      lasting(Number.NaN),
      at(9),
      not('invalid TTL', 'NaN ms is not a length of time'),
    ],
    [
      'one millisecond early, it waits',
      finished(0),
      lasting(60),
      at(59.999),
      { kind: 'waiting', until: at(60), ahead: 0 },
    ],
    [
      'exactly on the deadline, it has expired',
      finished(0),
      lasting(60),
      at(60),
      { kind: 'expired', since: at(60) },
    ],
    [
      'late is expired since its deadline',
      finished(0),
      lasting(60),
      at(9999),
      { kind: 'expired', since: at(60) },
    ],
    ['TTL 0 expires with the finish', finished(5), lasting(0), at(5), { kind: 'expired', since: at(5) }],
    [
      '68 years are a wait like any other',
      finished(0),
      lasting(MAX),
      at(0),
      { kind: 'waiting', until: at(MAX) },
    ],
    [
      'an end of its own counts from nothing',
      finished(0),
      ending(30),
      at(29),
      { kind: 'waiting', until: at(30) },
    ],
    [
      'an end before the finish is over at once',
      finished(40),
      ending(30),
      at(40),
      { kind: 'expired', since: at(30) },
    ],
    ['an end of its own needs a finish', UNFINISHED, ending(30), at(40), not('unfinished')],
    [
      'a finish in the future waits for all of it',
      finished(10),
      lasting(60),
      at(0),
      { kind: 'waiting', until: at(70), ahead: 10_000 },
      seconds(30),
    ],
    [
      'at the tolerance it is still believed',
      finished(30),
      lasting(0),
      at(0),
      { kind: 'waiting', until: at(30), ahead: 30_000 },
      seconds(30),
    ],
    [
      'beyond the tolerance it is held until it can be believed',
      finished(31),
      lasting(0),
      at(0),
      { kind: 'held', until: at(1), ahead: 31_000 },
      seconds(30),
    ],
    [
      'held also when it names an end in the past',
      finished(3600),
      ending(-5),
      at(0),
      { kind: 'held', until: at(3570) },
      seconds(30),
    ],
    [
      'a time that is not a time is unknown',
      finished(Number.NaN),
      lasting(5),
      at(0),
      not('finish time unknown', 'the time is not a time'),
    ],
    [
      'an endless TTL is not a time',
      finished(0),
      lasting(Number.POSITIVE_INFINITY),
      at(0),
      not('finish time unknown', 'the time is not a time'),
    ],
  ])('%s', (_rule, finish, ttl, now, expected, tolerance) => {
    expect(computeExpiry(finish, ttl, now, tolerance)).toMatchObject(expected);
  });

  test('never early, never undecided: expired exactly from finish + ttl on', () => {
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
        // Whoever wakes at the deadlines that are named ends up expired at the right instant, and in few steps.
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

describe('in words', () => {
  const say = (finish: Finish, ttl: Ttl, now: Instant) =>
    describeExpiry(computeExpiry(finish, ttl, now, seconds(30)));
  test.each([
    [say(UNFINISHED, lasting(1), at(0)), 'unfinished'],
    [say(UNKNOWN, lasting(1), at(0)), 'finish time unknown: no lastTransitionTime'],
    [
      say(finished(0), lasting(3600), at(5)),
      'finished 2026-01-01T12:00:00Z (condition Complete), TTL 1h0m0s (spec.ttl): ends 2026-01-01T13:00:00Z',
    ],
    [
      say(finished(0), lasting(60), at(61)),
      'finished 2026-01-01T12:00:00Z (condition Complete), TTL 1m0s (spec.ttl): ended 2026-01-01T12:01:00Z',
    ],
    [
      say(finished(0), ending(60), at(5)),
      'finished 2026-01-01T12:00:00Z (condition Complete), ends 2026-01-01T12:01:00Z (lapse.dev/expires-at): ends 2026-01-01T12:01:00Z',
    ],
    [
      say(finished(3600), lasting(60), at(0)),
      'finished 2026-01-01T13:00:00Z (condition Complete), TTL 1m0s (spec.ttl): held, the finish lies 1h0m0s in the future',
    ],
  ])('%s', (said, expected) => expect(said).toBe(expected));

  test('the next look is the deadline, and there is none where time changes nothing', () => {
    expect(deadlineOf(computeExpiry(finished(0), lasting(9), at(0)))).toBe(at(9));
    expect(deadlineOf(computeExpiry(finished(0), lasting(9), at(99)))).toBe(at(9));
    expect(deadlineOf(computeExpiry(finished(99), lasting(9), at(0), millis(0)))).toBe(at(99));
    expect(deadlineOf(computeExpiry(finished(0), NONE, at(99)))).toBeUndefined();
  });
});
