// Tests the rules and plans of keepers: what the spec requests, and what follows from the state of the followed object.

import { type Instant, instant } from '@lapse/base/instant';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import type { Client } from '@lapse/kube/client/client';
import { describe, expect, test } from 'vitest';
import type { ObjectKeeper } from '#api/objectKeeper';
import { CrdReader } from './crdReader.ts';
import { computePlan, computeRule, type Followed, startsCounting } from './decide.ts';

const START = instant(Date.parse('2026-03-01T10:00:00Z'));
const at = (millis: number): Instant => instant(START + millis);
const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'n', name: 'x', uid: 'u' };
const keeper = (spec: object, status?: ObjectKeeper['status']): ObjectKeeper => ({
  apiVersion: 'deckhouse.io/v1alpha1',
  kind: 'ObjectKeeper',
  metadata: { name: 'k', creationTimestamp: '2026-03-01T10:00:00Z' },
  spec,
  ...(status === undefined ? {} : { status }),
});
const FOLLOW = { mode: 'FollowObject', followObjectRef: ref };
const TIMED = { mode: 'FollowObjectWithTTL', followObjectRef: ref, ttl: '1h' };
const TTL = { mode: 'TTL', ttl: '1h' };
const exists: Followed = { kind: 'exists' };
const lost: Followed = { kind: 'lost', why: 'gone' };
const unclear: Followed = { kind: 'unclear', reason: 'KindNotServed', message: 'x' };

const plan = (object: ObjectKeeper, followed: Followed | undefined, now: Instant, blind = false) =>
  computePlan(computeRule(object), followed, { keeper: object, now, blind, stamp: now });
const shown = (object: ObjectKeeper, followed: Followed | undefined, now: Instant, blind = false) => {
  const made = plan(object, followed, now, blind);
  if (made.kind === 'delete') return `delete since ${made.since - START}`;
  if (made.kind === 'wait') return `wait ${made.until - START}`;
  const active = made.status.conditions?.[0];
  return `${made.status.phase} ${active?.status}/${active?.reason} ${made.status.lostAt ?? '-'} ${made.until === undefined ? '-' : made.until - START}`;
};

test.each<[string, ObjectKeeper, Followed | undefined, Instant, boolean, string]>([
  ['the followed object exists', keeper(FOLLOW), exists, at(5), false, 'Tracking True/ObjectExists - -'],
  [
    'the followed object exists but cannot be watched',
    keeper(FOLLOW),
    exists,
    at(0),
    true,
    'Tracking True/ObjectExists - 60000',
  ],
  ['the followed object is gone', keeper(FOLLOW), lost, at(5), false, 'delete since 5'],
  [
    'the state of the followed object is unknown',
    keeper(FOLLOW),
    unclear,
    at(0),
    false,
    'Pending Unknown/KindNotServed - 60000',
  ],
  [
    'the followed object is gone: the TTL starts',
    keeper(TIMED),
    lost,
    at(0),
    false,
    'Expiring False/MissingFollowObject 2026-03-01T10:00:00Z 3600000',
  ],
  [
    'one millisecond before the end of the TTL',
    keeper(TIMED, { lostAt: '2026-03-01T10:00:00Z' }),
    lost,
    at(3_599_999),
    false,
    'Expiring False/MissingFollowObject 2026-03-01T10:00:00Z 3600000',
  ],
  [
    'exactly at the end of the TTL',
    keeper(TIMED, { lostAt: '2026-03-01T10:00:00Z' }),
    lost,
    at(3_600_000),
    false,
    'delete since 3600000',
  ],
  [
    'the followed object exists again',
    keeper(TIMED, { lostAt: '2026-03-01T10:00:00Z' }),
    exists,
    at(5),
    false,
    'Tracking True/ObjectExists - -',
  ],
  [
    'the TTL has expired but the state of the followed object is unknown',
    keeper(TIMED, { phase: 'Expiring', lostAt: '2026-03-01T10:00:00Z' }),
    unclear,
    at(9e9),
    false,
    'Expiring Unknown/KindNotServed 2026-03-01T10:00:00Z 9000060000',
  ],
  [
    'mode TTL before the deadline',
    keeper(TTL),
    undefined,
    at(3_599_999),
    false,
    'Expiring True/TTLActive - 3600000',
  ],
  ['mode TTL at the deadline', keeper(TTL), undefined, at(3_600_000), false, 'delete since 3600000'],
  ['a missing ttl', keeper({ mode: 'TTL' }), undefined, at(9e9), false, 'Pending False/MissingTTL - -'],
  [
    'a missing reference',
    keeper({ mode: 'FollowObject' }),
    undefined,
    at(9e9),
    false,
    'Pending False/MissingFollowObjectRef - -',
  ],
  [
    'a reference without uid',
    keeper({ mode: 'FollowObject', followObjectRef: { ...ref, uid: '' } }),
    undefined,
    at(9e9),
    false,
    'Pending False/MissingFollowObjectRef - -',
  ],
  ...['../secrets/db', 'a/b', '..', 'a%2fb'].map(
    (name): [string, ObjectKeeper, undefined, Instant, boolean, string] => [
      `a reference to what nothing can be called: ${name}`,
      keeper({ mode: 'FollowObject', followObjectRef: { ...ref, name } }),
      undefined,
      at(9e9),
      false,
      'Pending False/MissingFollowObjectRef - -',
    ],
  ),
])('%s', (_name, object, followed, now, blind, expected) => {
  expect(shown(object, followed, now, blind)).toBe(expected);
});

describe('the time of a loss', () => {
  const planAt = (object: ObjectKeeper, stamp: Instant | undefined) =>
    computePlan(computeRule(object), lost, { keeper: object, now: at(0), blind: false, stamp });
  test("is the API server's time, regardless of the local clock", () => {
    expect(planAt(keeper(TIMED), at(1_500_000))).toMatchObject({
      status: { lostAt: '2026-03-01T10:25:00Z' },
      until: at(1_500_000 + 3_600_000),
    });
  });
  test("is not written while the API server's time is unknown", () => {
    expect(planAt(keeper(TIMED), undefined)).toEqual({ kind: 'wait', until: at(30_000) });
  });
  test('is only requested when a TTL starts', () => {
    const asks = (object: ObjectKeeper, followed: Followed | undefined) =>
      startsCounting(computeRule(object), followed, object);
    expect(asks(keeper(TIMED), lost)).toBe(true);
    expect(asks(keeper(TIMED, { lostAt: '2026-03-01T10:00:00Z' }), lost)).toBe(false);
    expect(asks(keeper(TIMED), exists)).toBe(false);
    expect(asks(keeper(FOLLOW), lost)).toBe(false);
    expect(asks(keeper(TTL), undefined)).toBe(false);
  });
});

test('a deadline beyond the supported range is shown as its last second', () => {
  const late = keeper({ mode: 'TTL', ttl: '24h' });
  late.metadata.creationTimestamp = '9999-12-31T23:00:00Z';
  expect(plan(late, undefined, at(0))).toMatchObject({ status: { message: 'ends at 9999-12-31T23:59:59Z' } });
  const lostLate = keeper(TIMED, { lostAt: '9999-12-31T23:30:00Z' });
  expect(plan(lostLate, lost, at(0))).toMatchObject({
    status: { message: 'gone; ends at 9999-12-31T23:59:59Z' },
  });
});

describe('status', () => {
  test('does not change with time alone, and old conditions are removed', () => {
    const made = plan(keeper(TIMED), lost, at(0));
    if (made.kind !== 'keep') throw new Error('kept');
    const written = keeper(TIMED, made.status);
    expect(plan(written, lost, at(60_000))).toMatchObject({ kind: 'keep', status: made.status });
    const back = plan(written, exists, at(60_000));
    expect(back.kind === 'keep' && back.status).toEqual({
      phase: 'Tracking',
      message: 'the followed object exists',
      conditions: [expect.objectContaining({ type: 'Active', status: 'True' })],
    });
  });
});

test('concurrent callers share one CRD read that starts after their calls', async () => {
  const waiting: ((uid: string) => void)[] = [];
  const client = {
    get: () =>
      new Promise((resolve) => {
        waiting.push((uid) => resolve({ kind: CustomResourceDefinition.kind, metadata: { name: 'x', uid } }));
      }),
  } as unknown as Client;
  const crds = new CrdReader();
  const uidOf = async (reading: ReturnType<CrdReader['get']>) => (await reading)?.metadata.uid;
  const first = uidOf(crds.get(client, 'x'));
  const later = Array.from({ length: 100 }, () => uidOf(crds.get(client, 'x')));
  expect(waiting).toHaveLength(1);
  waiting[0]!('old');
  expect(await first).toBe('old');
  await Promise.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  expect(waiting).toHaveLength(2);
  waiting[1]!('new');
  expect(new Set(await Promise.all(later))).toEqual(new Set(['new']));
});
