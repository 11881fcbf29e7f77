// Table tests of the request helpers: end, expiry, final status, permanent errors, keepers, configuration.

import { readDuration } from '@lapse/base/duration';
import { formatTime, hours, minutes } from '@lapse/base/instant';
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
import { parseRequestTtl, parseRetention, REQUEST_ENVIRONMENT } from './configuration.ts';
import { requireAll } from './direct.ts';
import { buildEnd } from './finish.ts';
import { buildKeeper, keeperProblem } from './keeper.ts';
import { keeperName, snapshotName, uidOfSnapshot } from './names.ts';
import { failureOf } from './refusal.ts';
import { at, request, START } from './request.testkit.ts';

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
