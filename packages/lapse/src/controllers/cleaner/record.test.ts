import { instant } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { describe, expect, test } from 'vitest';
import type { DeletionRecord } from '#api/cleaner';
import type { UninstallSteps } from '#helm/uninstallPlan';
import { cleaner } from './cleaner.testkit.ts';
import {
  buildRecord,
  computeOutdated,
  countDeletions,
  type DecisionParts,
  describeDecision,
  isBelievable,
  isLastDecision,
  kindOf,
  recordTargets,
} from './record.ts';
import type { Target } from './spec.ts';
import type { Found } from './targets.ts';

const KIND = { group: 'apps', version: 'v1', kind: 'Deployment', resource: 'deployments' } as ServedKind;
const object = (name: string, more: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, uid: `uid-${name}`, ...more },
});
const target = (reference: Partial<Target['reference']>, more: Partial<Target> = {}): Target => ({
  name: 't',
  reference: { kind: 'deployment', ...reference },
  delete: true,
  included: true,
  ...more,
});
const found = (objects: KubeObject[], more: Partial<Target> = {}): Found => ({
  target: target({ matchLabels: { a: 'b' } }, more),
  kind: KIND,
  objects,
});

describe('the recorded targets', () => {
  const going = object('b', { deletionTimestamp: '2026-01-01T00:00:00Z' });
  test.each<[string, Found[], string[]]>([
    ['contain the objects to be deleted', [found([object('a'), object('b')])], ['a', 'b']],
    ['contain each object once', [found([object('a')]), found([object('a')])], ['a']],
    ['contain no objects of targets that are kept', [found([object('a')], { delete: false })], []],
    ['contain no terminating objects', [found([object('a'), going])], ['a']],
    ['contain no objects without a uid', [found([object('a', { uid: '' }), object('b')])], ['b']],
  ])('%s', (_, given, names) => {
    expect(recordTargets(given).map(({ name }) => name)).toEqual(names);
  });
});

describe('the last decision of a Cleaner', () => {
  const recorded = { group: 'apps', version: 'v1', resource: 'deployments', name: 'a', uid: 'uid-a' };
  const record: DeletionRecord = { generation: 1, evaluatedAt: '2026-01-01T00:00:00Z', targets: [recorded] };
  test.each<[string, Target, boolean]>([
    ['is one that deleted an object which conditions name', target({ name: 'a' }), true],
    [
      'is not one whose deleted object conditions do not read',
      target({ name: 'a' }, { included: false }),
      false,
    ],
    ['is not one that keeps the named object', target({ name: 'a' }, { delete: false }), false],
    ['is not one with targets by label: an empty List is a valid value', target({ matchLabels: {} }), false],
    ['is not one that deleted another object', target({ name: 'b' }), false],
  ])('%s', (_, declared, expected) => {
    expect(isLastDecision(record, [declared])).toBe(expected);
  });
});

const NOW = instant(Date.parse('2026-03-01T00:00:00Z'));
const TARGET = { group: 'apps', version: 'v1', resource: 'deployments', name: 'a', uid: 'uid-a' };
const removal = { apiVersion: 'v1', kind: 'Pod', namespace: '', name: 'p', keep: false };
const storage = (revision: number) => ({
  driver: 'secret' as const,
  name: `sh.helm.release.v1.shop.v${revision}`,
  uid: `uid-${revision}`,
  revision,
});
const steps: UninstallSteps = {
  revision: 2,
  preDelete: [],
  removals: [removal, removal, removal],
  kept: [removal],
  postDelete: [],
  purge: [storage(1), storage(2)],
};
const release = { name: 'shop', steps };

test.each<[string, DecisionParts, number]>([
  ['a decision without a release counts its targets', { targets: [TARGET, TARGET] }, 2],
  ['a release counts with its removals and its storage records', { targets: [TARGET], release }, 6],
  ['a decision without targets and without a release counts nothing', { targets: [] }, 0],
])('%s', (_, parts, expected) => {
  expect(countDeletions(parts)).toBe(expected);
});

describe('the record of a decision', () => {
  const base = { generation: 3, evaluatedAt: '2026-03-01T00:00:00Z', targets: [TARGET] };
  const recordOf = (more: Partial<DecisionParts>, generation: number | undefined = 3): DeletionRecord =>
    buildRecord(
      cleaner({}, generation === undefined ? {} : { generation }),
      { targets: [TARGET], ...more },
      NOW,
    );
  test.each<[string, DeletionRecord, object]>([
    ['has the generation, the time and the targets', recordOf({}), base],
    [
      'names the service account',
      recordOf({ account: 'sweeper' }),
      { ...base, serviceAccountName: 'sweeper' },
    ],
    ['names the author', recordOf({ author: 'jane' }), { ...base, author: 'jane' }],
    [
      'names the release, its revision and its storage records',
      recordOf({ release }),
      { ...base, helm: { release: 'shop', revision: 2, storage: [storage(1), storage(2)] } },
    ],
  ])('%s', (_, record, expected) => {
    expect(record).toEqual(expected);
  });

  test.each<[string, DeletionRecord, string]>([
    ['describes one object in the singular', recordOf({}), '1 object'],
    ['describes several objects in the plural', recordOf({ targets: [TARGET, TARGET] }), '2 objects'],
    [
      'describes the release with its revision',
      recordOf({ targets: [], release }),
      '0 objects and the release shop (revision 2)',
    ],
  ])('%s', (_, record, expected) => {
    expect(describeDecision(record)).toBe(expected);
  });

  test('names its targets by resource in the namespace of the Cleaner', () => {
    expect(kindOf(TARGET)).toEqual({
      group: 'apps',
      version: 'v1',
      resource: 'deployments',
      kind: 'deployments',
      namespaced: true,
    });
  });
});

describe('a record that has led to no deletion', () => {
  const record = (generation: number, evaluatedAt: string): DeletionRecord => ({
    generation,
    evaluatedAt,
    targets: [TARGET],
  });
  test.each<[string, DeletionRecord, RegExp | undefined]>([
    ['is carried out within the hour', record(2, '2026-02-28T23:00:01Z'), undefined],
    ['is evaluated again after exactly one hour', record(2, '2026-02-28T23:00:00Z'), /an hour old/],
    ['is evaluated again when the spec has changed', record(1, '2026-03-01T00:00:00Z'), /spec was changed/],
  ])('%s', (_, given, expected) => {
    const why = computeOutdated(given, cleaner({}, { generation: 2 }), NOW);
    if (expected === undefined) expect(why).toBeUndefined();
    else expect(why).toMatch(expected);
  });
});

describe('a record', () => {
  const record = (more: Partial<DeletionRecord> = {}): DeletionRecord => ({
    generation: 2,
    evaluatedAt: '2026-03-01T00:00:00Z',
    serviceAccountName: 'sweeper',
    targets: [TARGET],
    ...more,
  });
  const recordOf = (more: Partial<typeof TARGET>) => record({ targets: [TARGET, { ...TARGET, ...more }] });
  test.each<[string, DeletionRecord, boolean]>([
    ['of this generation with the account of the spec is believed', record(), true],
    [
      'of this generation with another account is not believed',
      record({ serviceAccountName: 'admin' }),
      false,
    ],
    [
      'of an earlier generation is believed with another account',
      record({ generation: 1, serviceAccountName: 'former' }),
      true,
    ],
    ['of a later generation is not believed', record({ generation: 3 }), false],
    ['of an object in the core group is believed', recordOf({ group: '', resource: 'pods' }), true],
    ['of a kind that Cleaners may not delete is not believed', recordOf({ group: 'lapse.dev' }), false],
    ['whose group is a path is not believed', recordOf({ group: 'a/../b' }), false],
    ['whose version is a path is not believed', recordOf({ version: '../v1' }), false],
    ['whose resource is a path is not believed', recordOf({ resource: 'pods/../secrets' }), false],
    ['whose target has no name is not believed', recordOf({ name: '' }), false],
    ['whose target has no uid is not believed', recordOf({ uid: '' }), false],
    [
      'of an earlier generation is not believed with a kind that Cleaners may not delete',
      record({ generation: 1, targets: [{ ...TARGET, group: 'lapse.dev' }] }),
      false,
    ],
  ])('%s', (_, given, expected) => {
    expect(isBelievable(given, cleaner({}, { generation: 2 }), 'sweeper')).toBe(expected);
  });
});
