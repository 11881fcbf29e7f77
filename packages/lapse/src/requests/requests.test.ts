// Table tests of the request helpers: end, expiry, final status, permanent errors, keepers, configuration.

import { readDuration, requireDuration } from '@lapse/base/duration';
import {
  formatTime,
  hours,
  type Instant,
  instant,
  millis,
  minutes,
  plus,
  seconds,
} from '@lapse/base/instant';
import { ApiError } from '@lapse/kube/api/status';
import { TransportError } from '@lapse/kube/client/transport';
import { describe, expect, test } from 'vitest';
import type { ObjectKeeper } from '#api/objectKeeper';
import {
  AnnotationKeyTTL,
  DefaultRequestTTL,
  DefaultRequestTTLStr,
  Reason,
  RequestTTLEnvName,
} from '#api/storage/conditions';
import type { RequestObject } from '#api/storage/request';
import { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import { parseRequestTtl, parseRetention, REQUEST_ENVIRONMENT } from './configuration.ts';
import { requireAll } from './direct.ts';
import { describeRetention } from './endings.ts';
import { buildEnd } from './finish.ts';
import { buildKeeper, keeperProblem } from './keeper.ts';
import { keeperName, snapshotName, uidOfSnapshot } from './names.ts';
import { failureOf } from './refusal.ts';
import type { RequestRules, TtlMode } from './rules.ts';
import { hasEnded } from './terminal.ts';
import { computeEnd, computeRecheck, computeRequestTtl, computeScannedExpiry } from './ttl.ts';

const START = instant(Date.parse('2026-03-01T10:00:00Z'));
const at = (length: number): Instant => plus(START, millis(length));
const rulesOf = (mode: TtlMode, text = '10m'): RequestRules => ({
  kind: VolumeCaptureRequest,
  annotationKey: AnnotationKeyTTL,
  ttl: { mode, text, length: requireDuration('ttl', text) },
});

interface Shape {
  ready?: string;
  reason?: string;
  completed?: string | null;
  ttl?: string;
  deleting?: boolean;
}
const request = (shape: Shape = {}): RequestObject => {
  const { ready, reason = 'Completed', completed, ttl, deleting } = shape;
  const time = completed === undefined ? formatTime(START) : completed;
  return {
    apiVersion: 'storage.deckhouse.io/v1alpha1',
    kind: 'VolumeCaptureRequest',
    metadata: {
      name: 'r',
      namespace: 'ns',
      uid: 'u-1',
      resourceVersion: '5',
      ...(ttl === undefined ? {} : { annotations: { [AnnotationKeyTTL]: ttl } }),
      ...(deleting ? { deletionTimestamp: formatTime(START) } : {}),
    },
    ...(ready === undefined
      ? {}
      : {
          status: {
            ...(time === null ? {} : { completionTimestamp: time }),
            conditions: [
              { type: 'Ready', status: ready, reason, message: '', lastTransitionTime: formatTime(START) },
            ],
          },
        }),
  };
};

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

const NONE = { kind: 'none' };
const waiting = (until: number) => ({ kind: 'waiting', until: at(until) });
const expired = (since: number) => ({ kind: 'expired', since: at(since) });

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

describe('the final status of a request', () => {
  test('has one condition with reason and message, and a completion time', () => {
    expect(buildEnd(request(), { ready: false, reason: Reason.InUse, message: 'used' }, at(1500))).toEqual({
      completionTimestamp: '2026-03-01T10:00:01Z',
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          reason: 'InUse',
          message: 'used',
          lastTransitionTime: '2026-03-01T10:00:01Z',
        },
      ],
    });
  });
  test('keeps the completion time, and the transition time if the status does not change', () => {
    const ended = request({ ready: 'False', reason: 'InUse' });
    const status = buildEnd(ended, { ready: false, reason: Reason.InvalidTTL, message: 'x' }, at(hours(1)));
    expect(status).toMatchObject({
      completionTimestamp: formatTime(START),
      conditions: [{ reason: 'InvalidTTL', lastTransitionTime: formatTime(START) }],
    });
  });
  test('truncates a message that is too long for the API', () => {
    const status = buildEnd(
      request(),
      { ready: false, reason: Reason.InUse, message: 'x'.repeat(99_999) },
      START,
    );
    expect((status.conditions as { message: string }[])[0]!.message).toHaveLength(32_768);
  });
});

describe('errors of the API server', () => {
  const api = (code: number) => new ApiError(code, undefined, `code ${code}`);
  test.each([
    [403, 'RBACDenied'],
    [400, 'InternalError'],
    [404, 'InternalError'],
    [422, 'InternalError'],
  ])('%d fails the request with the reason %s', (code, reason) => {
    expect(failureOf(api(code), 'doing')).toEqual({
      kind: 'failure',
      reason,
      message: `doing: code ${code}`,
    });
  });
  test.each([401, 408, 409, 410, 429, 500, 502, 503, 504])('%d is temporary and is thrown', (code) => {
    expect(() => failureOf(api(code), 'doing')).toThrow(`code ${code}`);
  });
  test('a broken connection and a bug are thrown', () => {
    const broken = new TransportError('broken', 'lost', { sent: true });
    expect(() => failureOf(broken, 'doing')).toThrow(broken);
    expect(() => failureOf(new TypeError('bug'), 'doing')).toThrow('bug');
  });
});

describe('keepers', () => {
  const wanted = buildKeeper('ret-snapshot-u-1', request(), { mode: 'FollowObject' });
  test('follow the request by uid and have no TTL', () => {
    expect(wanted).toEqual({
      apiVersion: 'deckhouse.io/v1alpha1',
      kind: 'ObjectKeeper',
      metadata: { name: 'ret-snapshot-u-1' },
      spec: {
        mode: 'FollowObject',
        followObjectRef: {
          apiVersion: 'storage.deckhouse.io/v1alpha1',
          kind: 'VolumeCaptureRequest',
          namespace: 'ns',
          name: 'r',
          uid: 'u-1',
        },
      },
    });
  });
  test('are not created for a request without uid', () => {
    const nameless = { ...request(), metadata: { name: 'r' } };
    expect(() => buildKeeper('x', nameless, { mode: 'FollowObject' })).toThrow('without uid');
  });
  const found = (change: (keeper: ObjectKeeper) => void): ObjectKeeper => {
    const copy = structuredClone(wanted);
    change(copy);
    return copy;
  };
  test.each<[string, (keeper: ObjectKeeper) => void, string | undefined]>([
    ['the same', () => {}, undefined],
    [
      'another mode',
      (k) => (k.spec!.mode = 'FollowObjectWithTTL'),
      'mode FollowObjectWithTTL instead of FollowObject',
    ],
    ['a ttl', (k) => (k.spec!.ttl = '1h'), 'ttl 1h instead of undefined'],
    ['another uid', (k) => (k.spec!.followObjectRef!.uid = 'u-2'), 'followObjectRef.uid u-2 instead of u-1'],
    [
      'another namespace',
      (k) => (k.spec!.followObjectRef!.namespace = 'x'),
      'followObjectRef.namespace x instead of ns',
    ],
    ['another kind', (k) => (k.spec!.followObjectRef!.kind = 'Pod'), 'followObjectRef.kind Pod instead'],
    ['another name', (k) => (k.spec!.followObjectRef!.name = 'x'), 'followObjectRef.name x instead of r'],
    ['no reference', (k) => delete k.spec!.followObjectRef, 'followObjectRef.uid undefined instead'],
    ['being deleted', (k) => (k.metadata.deletionTimestamp = 'x'), 'is being deleted'],
  ])('that exist with %s are compared', (_name, change, problem) => {
    const answer = keeperProblem(found(change), wanted);
    if (problem === undefined) expect(answer).toBeUndefined();
    else
      expect(answer).toMatchObject({
        reason: 'OwnershipConflict',
        message: expect.stringContaining(problem),
      });
  });
});

test('names contain the uid of the request, and the uid can be read from them', () => {
  expect([
    keeperName('snapshot', 'u'),
    keeperName('pv', 'u'),
    keeperName('pvc', 'u'),
    snapshotName('u'),
  ]).toEqual(['ret-snapshot-u', 'ret-pv-u', 'ret-pvc-u', 'snapshot-u']);
  expect(uidOfSnapshot(snapshotName('u'))).toBe('u');
  expect(uidOfSnapshot('snapcontent-u')).toBeUndefined();
});

describe('configuration', () => {
  test('the default of the schema matches the constants', () => {
    expect(parseRequestTtl(undefined)).toEqual({
      mode: 'scanner',
      text: DefaultRequestTTLStr,
      length: DefaultRequestTTL,
    });
    expect(REQUEST_ENVIRONMENT).toEqual({ REQUEST_TTL: 'requestTTL.ttl' });
    expect([RequestTTLEnvName, AnnotationKeyTTL]).toEqual(['REQUEST_TTL', 'storage.deckhouse.io/ttl']);
  });
  test.each(['', 'x', '10minutes', '1d', '0', '0s', '-10m', ' 10m', '٣m', '1h '])(
    'REQUEST_TTL %j stops the start',
    (ttl) => {
      expect(() => parseRequestTtl({ ttl })).toThrow('requestTTL.ttl (REQUEST_TTL): ');
    },
  );
  test('the TTL keeps the text as configured', () => {
    expect(parseRequestTtl({ ttl: '1h30m', mode: 'annotation' })).toEqual({
      mode: 'annotation',
      text: '1h30m',
      length: minutes(90),
    });
  });
  test.each([
    [undefined, 'FollowObject', { mode: 'FollowObject' }],
    [undefined, 'FollowObjectWithTTL', { mode: 'FollowObjectWithTTL', ttl: '24h' }],
    [
      { mode: 'FollowObjectWithTTL', ttl: '72h' },
      'FollowObject',
      { mode: 'FollowObjectWithTTL', ttl: '72h' },
    ],
    [{ mode: 'FollowObject', ttl: 'nonsense is not looked at' }, 'FollowObject', { mode: 'FollowObject' }],
  ] as const)('the retention %j is parsed with the default mode %s', (section, mode, expected) => {
    expect(parseRetention('retention', section, mode)).toEqual(expected);
  });
  test('a retention TTL that is not a duration stops the start', () => {
    expect(() =>
      parseRetention('retention', { mode: 'FollowObjectWithTTL', ttl: '1d' }, 'FollowObject'),
    ).toThrow('retention.ttl: ');
  });
  test('durations are rounded up, so that nothing expires early', () => {
    expect(readDuration('1ns')).toEqual({ kind: 'length', length: 1 });
    expect(readDuration('1.0001ms')).toEqual({ kind: 'length', length: 2 });
    expect(readDuration('2562047h')).toMatchObject({ kind: 'length' });
    expect(readDuration('2562048h')).toMatchObject({ kind: 'invalid' });
  });
});

test('a missing dependency of a controller throws an error', () => {
  expect(() => requireAll('volume-capture', { direct: undefined })).toThrow(
    'controller volume-capture needs direct',
  );
  expect(requireAll('x', { a: 1 })).toEqual({ a: 1 });
});
