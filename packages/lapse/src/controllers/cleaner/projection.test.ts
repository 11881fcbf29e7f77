import { instant } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import type { Cleaner, CleanerStatus } from '#api/cleaner';
import { cleaner } from './cleaner.testkit.ts';
import { cleanerProjection, waitOf } from './projection.ts';

const CREATED = '2026-01-01T00:00:00Z';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const identity = { name: 'c', namespace: 'team', uid: 'u-1', resourceVersion: '12', generation: 3 };
const ready = { type: 'Ready', status: 'True' as const, reason: 'NotExpired' };
const record = { generation: 3, evaluatedAt: CREATED, targets: [] };

const waiting = (status: CleanerStatus = {}, metadata: Partial<Cleaner['metadata']> = {}): Cleaner => ({
  ...cleaner(
    { ttl: '1h30m', conditions: ['true'], retry: { period: '5m' } },
    {
      ...identity,
      creationTimestamp: CREATED,
      labels: { app: 'shop' },
      annotations: { 'lapse.dev/author': '{}', [LAST_APPLIED]: '{}' },
      managedFields: [{ manager: 'kubectl' }],
      ...metadata,
    },
  ),
  status: { observedGeneration: 3, conditions: [ready], ...status },
});

test('a Cleaner that waits for its TTL is cached as its identity and its deadline', () => {
  const cached = cleanerProjection.project(waiting());
  expect(cached.metadata).toEqual(identity);
  expect([cached.apiVersion, cached.kind]).toEqual(['cleaner.vtex.dev/v1alpha', 'Cleaner']);
  expect([cached.spec, cached.status]).toEqual([undefined, undefined]);
  expect(waitOf(cached)).toBe(instant(Date.parse('2026-01-01T01:30:00Z')));
});

test('conditions of other writers in status do not keep a waiting Cleaner in memory', () => {
  const conditions = [{ type: 'Audited', status: 'True' as const }, ready];
  expect(waitOf(cleanerProjection.project(waiting({ conditions })))).toBeDefined();
});

describe('a Cleaner is cached completely, without managedFields and the last-applied annotation,', () => {
  test.each<[string, Cleaner]>([
    ['before its first status', { ...waiting(), status: undefined as never }],
    ['when its spec changed after the status', waiting({ observedGeneration: 2 })],
    ['after its TTL', waiting({ conditions: [{ ...ready, reason: 'WaitingForConditions' }] })],
    ['when it has a deletion record', waiting({ deletion: record })],
    ['when it is terminating', waiting({}, { deletionTimestamp: CREATED })],
    ['when its creation time is unknown', waiting({}, { creationTimestamp: null })],
    ['when its TTL is not a duration', { ...waiting(), spec: { ttl: 'soon' } }],
  ])('%s', (_when, given) => {
    const { managedFields: _, ...metadata } = given.metadata;
    const expected = { ...given, metadata: { ...metadata, annotations: { 'lapse.dev/author': '{}' } } };
    const cached = cleanerProjection.project(given);
    expect(cached).toEqual(expected);
    expect(waitOf(cached)).toBeUndefined();
  });
});
