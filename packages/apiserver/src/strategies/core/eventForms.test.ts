// One Event in two API groups.

import type { KubeObject } from '@lapse/kube/api/object';
import { expect, test } from 'vitest';
import { toCore, toModern } from './eventForms.ts';

const MODERN = {
  kind: 'Event',
  apiVersion: 'events.k8s.io/v1',
  metadata: { name: 'e', namespace: 'n' },
  eventTime: '2024-01-01T00:00:00.000000Z',
  series: { count: 2, lastObservedTime: '2024-01-01T00:00:01.000000Z' },
  reportingController: 'c',
  reportingInstance: 'i',
  action: 'A',
  reason: 'R',
  regarding: { kind: 'Pod', name: 'p' },
  related: { kind: 'Node', name: 'm' },
  note: 'text',
  type: 'Normal',
  deprecatedSource: { component: 'old' },
  deprecatedFirstTimestamp: null,
  deprecatedLastTimestamp: null,
  deprecatedCount: 7,
} as unknown as KubeObject;

test('a round trip between both forms loses nothing', () => {
  expect(toModern(toCore(MODERN))).toEqual(MODERN);
});

test('converts to the field names of v1', () => {
  expect(toCore(MODERN)).toEqual({
    kind: 'Event',
    apiVersion: 'v1',
    metadata: { name: 'e', namespace: 'n' },
    involvedObject: { kind: 'Pod', name: 'p' },
    reason: 'R',
    message: 'text',
    source: { component: 'old' },
    firstTimestamp: null,
    lastTimestamp: null,
    count: 7,
    type: 'Normal',
    eventTime: '2024-01-01T00:00:00.000000Z',
    series: { count: 2, lastObservedTime: '2024-01-01T00:00:01.000000Z' },
    action: 'A',
    related: { kind: 'Node', name: 'm' },
    reportingComponent: 'c',
    reportingInstance: 'i',
  });
});

test('adds the fields that Go always writes to an empty event', () => {
  const empty = { metadata: { name: 'e' } } as KubeObject;
  expect(toCore(empty)).toEqual({
    kind: 'Event',
    apiVersion: 'v1',
    metadata: { name: 'e' },
    involvedObject: {},
    source: {},
    firstTimestamp: null,
    lastTimestamp: null,
    eventTime: null,
    reportingComponent: '',
    reportingInstance: '',
  });
  expect(Object.keys(toModern(empty)).sort()).toEqual([
    'apiVersion',
    'deprecatedFirstTimestamp',
    'deprecatedLastTimestamp',
    'deprecatedSource',
    'eventTime',
    'kind',
    'metadata',
    'regarding',
  ]);
});
