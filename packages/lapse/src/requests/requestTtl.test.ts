import { requireDuration } from '@lapse/base/duration';
import { hours, type Instant, instant, minutes, seconds } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import { AnnotationKeyTTL } from '#api/storage/conditions';
import { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import { describeRetention } from './endings.ts';
import { at, request, type Shape, START } from './request.testkit.ts';
import type { RequestRules, TtlMode } from './rules.ts';
import { hasEnded } from './terminal.ts';
import { computeEnd, computeRecheck, computeRequestTtl, computeScannedExpiry } from './ttl.ts';

const rulesOf = (mode: TtlMode, text = '10m'): RequestRules => ({
  kind: VolumeCaptureRequest,
  annotationKey: AnnotationKeyTTL,
  ttl: { mode, text, length: requireDuration('ttl', text) },
});

const NONE = { kind: 'none' };

const waiting = (until: number) => ({ kind: 'waiting', until: at(until) });

const expired = (since: number) => ({ kind: 'expired', since: at(since) });

describe('hasEnded', () => {
  test.each([
    ['no status at all', request(), false],
    ['Ready=True', request({ ready: 'True' }), true],
    ['Ready=False with a reason', request({ ready: 'False', reason: 'NotFound' }), true],
    ['Ready=False Pending is progress', request({ ready: 'False', reason: 'Pending' }), false],
    ['Ready=False Running is progress', request({ ready: 'False', reason: 'Running' }), false],
    ['Ready=False Processing is progress', request({ ready: 'False', reason: 'Processing' }), false],
    ['Ready=False TargetsPending is progress', request({ ready: 'False', reason: 'TargetsPending' }), false],
    ['Ready=True Running has ended', request({ ready: 'True', reason: 'Running' }), true],
    ['Ready=False InvalidTTL', request({ ready: 'False', reason: 'InvalidTTL' }), true],
    ['Ready=Unknown', request({ ready: 'Unknown' }), false],
    [
      'another condition',
      { ...request(), status: { conditions: [{ type: 'Other', status: 'True' }] } },
      false,
    ],
  ])('%s', (_name, object, ended) => {
    expect(hasEnded(object)).toBe(ended);
  });
});

describe('expiry by the configured TTL', () => {
  const expiry = (shape: Shape, now: Instant) =>
    computeScannedExpiry(request(shape), rulesOf('scanner'), now);
  test.each([
    ['a pending request never expires', {}, at(hours(900)), NONE],
    ['one millisecond before its deadline a request waits', { ready: 'True' }, at(599_999), waiting(600_000)],
    ['exactly at its deadline a request has expired', { ready: 'True' }, at(600_000), expired(600_000)],
    ['a failed request expires as well', { ready: 'False', reason: 'InUse' }, at(700_000), expired(600_000)],
    [
      'a request without a completion time never expires',
      { ready: 'True', completed: null },
      at(hours(900)),
      NONE,
    ],
    [
      'a request with an unreadable completion time never expires',
      { ready: 'True', completed: 'soon' },
      at(hours(900)),
      NONE,
    ],
    [
      'a request that is being deleted does not expire',
      { ready: 'True', deleting: true },
      at(hours(900)),
      NONE,
    ],
    ['a longer TTL annotation has no effect', { ready: 'True', ttl: '900h' }, at(600_000), expired(600_000)],
    ['a shorter TTL annotation has no effect', { ready: 'True', ttl: '1s' }, at(599_999), waiting(600_000)],
    [
      'an unreadable TTL annotation has no effect',
      { ready: 'True', ttl: '10minutes' },
      at(600_000),
      expired(600_000),
    ],
  ])('%s', (_name, shape, now, expected) => {
    expect(expiry(shape as Shape, now)).toEqual(expected);
  });
});

describe('expiry by the annotation', () => {
  const invalid = (text: string, error: string) => ({
    kind: 'invalid',
    message: `Invalid TTL annotation format: ${text} (error: ${error})`,
  });
  test.each([
    ['a request without annotation never expires', { ready: 'True' }, at(hours(900)), NONE],
    ['a request that has not ended never expires', { ttl: '1s' }, at(hours(900)), NONE],
    [
      'a request that another controller marked as running never expires',
      { ready: 'False', reason: 'Running', ttl: '1s' },
      at(9e6),
      NONE,
    ],
    [
      'an unreadable annotation is ignored without a completion time',
      { ready: 'True', completed: null, ttl: 'x' },
      at(0),
      NONE,
    ],
    ['the TTL of the annotation decides', { ready: 'True', ttl: '1h' }, at(3_599_999), waiting(3_600_000)],
    [
      'a request expires exactly at the deadline of its annotation',
      { ready: 'True', ttl: '1h' },
      at(3_600_000),
      expired(3_600_000),
    ],
    [
      'a request with InvalidTTL expires once its annotation is corrected',
      { ready: 'False', reason: 'InvalidTTL', ttl: '1m' },
      at(60_000),
      expired(60_000),
    ],
    [
      '10minutes',
      { ready: 'True', ttl: '10minutes' },
      at(0),
      invalid('10minutes', 'time: unknown unit "minutes" in duration "10minutes"'),
    ],
    ['1d', { ready: 'True', ttl: '1d' }, at(0), invalid('1d', 'time: unknown unit "d" in duration "1d"')],
    ['empty', { ready: 'True', ttl: '' }, at(0), invalid('', 'time: invalid duration ""')],
    [
      'a number',
      { ready: 'True', ttl: '600' },
      at(0),
      invalid('600', 'time: missing unit in duration "600"'),
    ],
  ])('%s', (_name, shape, now, expected) => {
    expect(computeRequestTtl(request(shape as Shape), rulesOf('annotation'), now)).toEqual(expected);
  });

  test.each([
    ['ten minutes left', minutes(10), 0, 54_000],
    ['ten minutes left, highest random value', minutes(10), 0.999_999, 66_000],
    ['exactly one minute', seconds(60), 0.5, 60_000],
    ['forty seconds', seconds(40), 0.5, 40_000],
    ['forty seconds, lowest random value', seconds(40), 0, 36_000],
    ['thirty seconds, lowest random value: not below thirty', seconds(30), 0, 30_000],
    ['one second: thirty', seconds(1), 0.5, 30_000],
    ['one second, highest random value', seconds(1), 0.999_999, 33_000],
  ])('is evaluated again: %s', (_name, left, chance, expected) => {
    expect(Math.round(computeRecheck(at(left), START, chance) - START)).toBe(expected);
  });

  test('the last evaluation is at most 33 s after the deadline', () => {
    for (let left = 0; left <= 120_000; left += 500)
      for (const chance of [0, 0.25, 0.5, 0.75, 0.999_999]) {
        const delay = computeRecheck(at(left), START, chance) - START;
        expect(delay).toBeGreaterThanOrEqual(30_000);
        expect(delay).toBeLessThanOrEqual(66_000);
        if (left <= 54_000) expect(delay - left).toBeLessThanOrEqual(33_000);
      }
  });
});

test('the deletion time in the message is the actual deadline', () => {
  expect(computeEnd(request({ ttl: '1h' }), rulesOf('scanner'), START)).toBe(at(minutes(10)));
  expect(computeEnd(request({ ttl: '1h' }), rulesOf('annotation'), START)).toBe(at(hours(1)));
  expect(computeEnd(request({ ttl: 'x' }), rulesOf('annotation'), START)).toBe(at(minutes(10)));
});

test('a deletion time beyond the supported range is shown as its last second', () => {
  const far = instant(Date.parse('9999-12-31T23:59:59Z') + 1000);
  expect(describeRetention({ mode: 'FollowObject' }, far)).toContain('(at 9999-12-31T23:59:59Z by its TTL)');
});
