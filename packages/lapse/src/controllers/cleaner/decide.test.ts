import { hours, instant, millis } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { describe, expect, test } from 'vitest';
import type { ReleasePlan } from '#helm/readPlan';
import type { UninstallSteps } from '#helm/uninstallPlan';
import { cleaner } from './cleaner.testkit.ts';
import { computeGate, computeObstacle, computeReleaseObstacle, decide } from './decide.ts';
import { MOST_DELETIONS } from './record.ts';
import type { Meaning, Target } from './spec.ts';
import { type Found, MOST_BOUND } from './targets.ts';

const NOW = instant(Date.parse('2026-03-01T00:00:00Z'));
const DAY = 86_400_000;
const ago = (length: number) => new Date(NOW - length).toISOString().replace('.000', '');

describe('the TTL', () => {
  const created = (at: string, ttl: number) =>
    computeGate(cleaner({}, { creationTimestamp: at }), millis(ttl), NOW);
  test.each<[string, ReturnType<typeof computeGate>, object]>([
    [
      'waits one millisecond before the end of the TTL',
      created(ago(3_599_000), 3_599_001),
      { kind: 'waiting', until: NOW + 1 },
    ],
    [
      'is open exactly at the end of the TTL',
      created(ago(3_600_000), 3_600_000),
      { kind: 'open', since: NOW },
    ],
    [
      'is open long after the end of the TTL',
      created(ago(10 * DAY), 0),
      { kind: 'open', since: NOW - 10 * DAY },
    ],
    [
      'waits for thirty days, which exceeds the longest Node.js timer',
      created(ago(0), 30 * DAY),
      { kind: 'waiting', until: NOW + 30 * DAY },
    ],
    [
      'counts a Cleaner without a creation time as created now',
      computeGate(cleaner(), hours(1), NOW),
      { kind: 'waiting', until: NOW + 3_600_000 },
    ],
  ])('%s', (_, gate, expected) => {
    expect(gate).toEqual(expected);
  });
});

const KIND = { group: '', version: 'v1', kind: 'Pod', resource: 'pods' } as ServedKind;
const pods = (count: number): KubeObject[] =>
  Array.from({ length: count }, (_, i) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `p${i}`, uid: `uid-${i}` },
  }));
const found = (count: number, more: Partial<Target> = {}): Found => ({
  target: {
    name: 'pods',
    reference: { kind: 'pod', matchLabels: { a: 'b' } },
    delete: true,
    included: true,
    ...more,
  },
  kind: KIND,
  objects: pods(count),
});

describe('the objects of targets', () => {
  const named = { reference: { kind: 'pod', name: 'web' }, delete: false };
  test.each<[string, Found[], string | undefined]>([
    ['can be evaluated', [found(1)], undefined],
    ['can be evaluated up to the limit', [found(MOST_BOUND)], undefined],
    ['are too many above the limit', [found(MOST_BOUND), found(1)], 'BudgetExceeded'],
    ['may be none for a target by label', [found(0)], undefined],
    ['must contain a named object that conditions read', [found(0, named)], 'TargetNotFound'],
  ])('%s', (_, given, reason) => {
    expect(computeObstacle(given)?.reason).toBe(reason);
  });
});

const removal = { apiVersion: 'v1', kind: 'Pod', namespace: '', name: 'p', keep: false };
const storage = { driver: 'secret' as const, name: 'sh.helm.release.v1.shop.v1', uid: 'u', revision: 1 };
const plan = (removals: number): ReleasePlan => {
  const steps: UninstallSteps = {
    revision: 1,
    preDelete: [],
    removals: Array.from({ length: removals }, () => removal),
    kept: [],
    postDelete: [],
    purge: [storage],
  };
  return { kind: 'uninstall', steps };
};

test.each<[string, ReleasePlan, object | undefined]>([
  ['that does not exist', { kind: 'absent' }, undefined],
  ['that can be uninstalled', plan(1), undefined],
  ['that the actor may not read', { kind: 'forbidden', why: 'no' }, { reason: 'Forbidden', message: 'no' }],
  [
    'with too many revisions',
    { kind: 'tooMany' },
    { reason: 'BudgetExceeded', message: 'the release shop has too many revisions' },
  ],
  [
    'without a record',
    { kind: 'unrecorded', why: 'SQL' },
    { reason: 'HelmDriverNotSupported', message: 'SQL' },
  ],
  [
    'that is being upgraded',
    { kind: 'busy', status: 'pending-upgrade', until: NOW },
    { reason: 'HelmOperationInProgress', message: 'the release shop is pending-upgrade', until: NOW },
  ],
  [
    'whose record is corrupt',
    { kind: 'corrupt', why: 'not gzip' },
    { reason: 'HelmUninstallFailed', message: 'the release shop cannot be read: not gzip' },
  ],
])('the obstacle of a release %s', (_, given, expected) => {
  expect(computeReleaseObstacle('shop', given)).toEqual(expected);
});

describe('the decision', () => {
  const meaning = (release?: string): Meaning => ({
    ttl: hours(1),
    monotonic: false,
    targets: [],
    conditions: [],
    dryRun: false,
    ...(release === undefined ? {} : { release }),
  });
  const self = { account: undefined, author: undefined, limits: { isRecorded: false } };
  const decided = (count: number, given?: ReleasePlan, release = given && 'shop') =>
    decide(
      cleaner({}, { generation: 3 }),
      meaning(release),
      { found: [found(count)], ...(given === undefined ? {} : { plan: given }) },
      self,
      NOW,
    );

  test.each<[string, ReturnType<typeof decide>, string]>([
    ['deletes the Cleaner alone if nothing else is left', decided(0), 'nothing'],
    ['deletes the Cleaner alone if the release does not exist', decided(0, { kind: 'absent' }), 'nothing'],
    ['deletes targets', decided(1), 'delete'],
    ['deletes a release without targets', decided(0, plan(1)), 'delete'],
    ['deletes as many objects as the limit', decided(MOST_DELETIONS), 'delete'],
    ['counts the release up to the limit', decided(1, plan(MOST_DELETIONS - 2)), 'delete'],
    ['is not made above the limit', decided(MOST_DELETIONS + 1), 'not'],
    ['is not made if the release exceeds the limit', decided(1, plan(MOST_DELETIONS - 1)), 'not'],
    ['is not made while the release has an obstacle', decided(1, { kind: 'tooMany' }), 'not'],
  ])('%s', (_, decision, kind) => {
    expect(decision.kind).toBe(kind);
  });

  test('records its targets, its release, and the account and author that it is made for', () => {
    const confirmed = { found: [found(1)], plan: plan(1) };
    const actor = { account: 'sweeper', author: 'jane', limits: { isRecorded: false } };
    const decision = decide(cleaner({}, { generation: 3 }), meaning('shop'), confirmed, actor, NOW);
    expect(decision).toEqual({
      kind: 'delete',
      record: {
        generation: 3,
        evaluatedAt: '2026-03-01T00:00:00Z',
        serviceAccountName: 'sweeper',
        author: 'jane',
        targets: [{ group: '', version: 'v1', resource: 'pods', name: 'p0', uid: 'uid-0' }],
        helm: { release: 'shop', revision: 1, storage: [storage] },
      },
    });
  });

  test('leaves a release alone that is not to be deleted', () => {
    const decision = decide(cleaner(), meaning(), { found: [found(1)], plan: plan(1) }, self, NOW);
    expect(decision).toMatchObject({ kind: 'delete', record: { targets: [{ name: 'p0' }] } });
    expect(decision).not.toHaveProperty('record.helm');
  });
});
