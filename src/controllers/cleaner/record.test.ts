import { describe, expect, test } from 'vitest';
import type { DeletionRecord } from '#api/kinds/cleaner';
import type { KubeObject } from '#api/object';
import type { ServedKind } from '#client/discovery';
import { isLastDecision, recordTargets } from './record.ts';
import type { Found } from './snapshot.ts';
import type { Target } from './spec.ts';

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

describe('what is recorded', () => {
  const going = object('b', { deletionTimestamp: '2026-01-01T00:00:00Z' });
  test.each<[string, Found[], string[]]>([
    ['what is to be deleted', [found([object('a'), object('b')])], ['a', 'b']],
    ['each object once', [found([object('a')]), found([object('a')])], ['a']],
    ['nothing of targets that stay', [found([object('a')], { delete: false })], []],
    ['nothing that is going already', [found([object('a'), going])], ['a']],
  ])('%s', (_, given, names) => {
    expect(recordTargets(given).map(({ name }) => name)).toEqual(names);
  });
});

describe('no decision can follow', () => {
  const recorded = { group: 'apps', version: 'v1', resource: 'deployments', name: 'a', uid: 'uid-a' };
  const record: DeletionRecord = { generation: 1, evaluatedAt: '2026-01-01T00:00:00Z', targets: [recorded] };
  test.each<[string, Target, boolean]>([
    ['when what conditions name was deleted', target({ name: 'a' }), true],
    ['not when conditions do not see it', target({ name: 'a' }, { included: false }), false],
    ['not when it stays', target({ name: 'a' }, { delete: false }), false],
    ['not when conditions see it by its labels: none is a List too', target({ matchLabels: {} }), false],
    ['not when the decision was about another', target({ name: 'b' }), false],
  ])('%s', (_, declared, expected) => {
    expect(isLastDecision(record, [declared])).toBe(expected);
  });
});
