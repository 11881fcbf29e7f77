import { hours, plus } from '@lapse/base/instant';
import type { KubeObject, ObjectMeta } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import type { TrashRecord } from '../record.ts';
import { configMap, NOW, recordOf } from '../trash.testkit.ts';
import { type Prepared, prepareUndo } from './prepare.ts';
import { isWanted, newestOfEach, type Wanted, withoutRepeats } from './select.ts';

const prepareOne = (record: TrashRecord, options: object = {}): Prepared =>
  prepareUndo([record], { now: NOW, ...options })[0]!;
const object = (
  apiVersion: string,
  kind: string,
  more: object = {},
  metadata: ObjectMeta = {},
): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: 'x', namespace: 'shop', uid: `uid-${kind}`, resourceVersion: '1', ...metadata },
  ...more,
});
const done = { status: { completionTime: '2026-01-01T00:00:00Z' } };

describe('what is selected', () => {
  const record = recordOf(configMap('a'), { rule: 'TTLPolicy ci/runs' });
  test.each<[string, Wanted, boolean]>([
    ['nothing asked: everything', {}, true],
    ['its id', { id: record.metadata.name }, true],
    ['another id', { id: 'x' }, false],
    ['saved exactly then', { since: NOW }, true],
    ['saved before', { since: plus(NOW, hours(1)) }, false],
    ['its namespace', { namespace: 'shop' }, true],
    ['another namespace', { namespace: 'other' }, false],
    ['its kind in any case', { kind: { kind: 'configmap' } }, true],
    ['its kind in another group', { kind: { group: 'apps', kind: 'ConfigMap' } }, false],
    ['the rule with its kind', { rule: 'TTLPolicy ci/runs' }, true],
    ['the rule with its namespace', { rule: 'ci/runs' }, true],
    ['the name of the rule', { rule: 'runs' }, true],
    ['a part of the name of the rule', { rule: 'uns' }, false],
  ])('%s', (_, wanted, expected) => {
    expect(isWanted(record, wanted)).toBe(expected);
  });

  test('an object that was saved twice is one deletion, and only its newest state is restored', () => {
    const first = recordOf(configMap('a'));
    const again = recordOf(configMap('a'), { at: plus(NOW, hours(1)) });
    const later = recordOf(configMap('a', { resourceVersion: '9', uid: 'new' }), { at: plus(NOW, hours(2)) });
    expect(withoutRepeats([first, again, later])).toEqual([first, later]);
    expect(newestOfEach([first, later])).toEqual([later]);
  });
});

describe('what is created', () => {
  test('the object without server-set fields, with annotations that keep it', () => {
    const { object: created, skip } = prepareOne(
      recordOf(configMap('a', { generation: 3 }, { data: { x: 'y' } })),
    );
    expect(skip).toBeUndefined();
    expect(created).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'a',
        namespace: 'shop',
        annotations: { 'lapse.dev/restored-at': '2026-01-01T00:00:00Z', 'lapse.dev/ttl': 'never' },
      },
      data: { x: 'y' },
    });
  });

  test('--ttl replaces never, and a passed lapse.dev/expires-at is removed', () => {
    const annotations = { 'lapse.dev/expires-at': '2025-01-01T00:00:00Z', mine: 'yes' };
    const { object: created, notes } = prepareOne(recordOf(configMap('a', { annotations })), { ttl: '48h' });
    expect(created.metadata.annotations).toEqual({
      mine: 'yes',
      'lapse.dev/restored-at': '2026-01-01T00:00:00Z',
      'lapse.dev/ttl': '48h',
    });
    expect(notes).toEqual(['its annotation lapse.dev/expires-at is removed']);
  });

  test('owners come before their dependents', () => {
    const owner = object('example.com/v1', 'Widget');
    const owned = configMap('owned', {
      ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Widget', name: 'x', uid: 'uid-Widget' }],
    });
    const order = prepareUndo([recordOf(owned), recordOf(owner)], { now: NOW }).map(({ what }) => what);
    expect(order).toEqual(['example.com/v1 Widget shop/x', 'v1 ConfigMap shop/owned']);
  });
});

describe('finished work', () => {
  test.each<[string, KubeObject]>([
    ['a complete Job', object('batch/v1', 'Job', done)],
    ['a succeeded Pod', object('v1', 'Pod', { status: { phase: 'Succeeded' } })],
    ['a finished PipelineRun', object('tekton.dev/v1', 'PipelineRun', done)],
    ['a finished TaskRun', object('tekton.dev/v1', 'TaskRun', done)],
    [
      'a finished Workflow',
      object('argoproj.io/v1alpha1', 'Workflow', { status: { finishedAt: '2026-01-01T00:00:00Z' } }),
    ],
  ])('%s is skipped', (_, finished) => {
    expect(prepareOne(recordOf(finished)).skip).toContain('would run again');
  });

  test('an object that the policy judged finished is skipped, whatever its status', () => {
    expect(prepareOne(recordOf(configMap('a'), { isFinished: true })).skip).toContain('would run again');
  });

  test.each<[string, KubeObject, object]>([
    ['a Job', object('batch/v1', 'Job', { ...done, spec: { template: {} } }), { suspend: true }],
    ['a Workflow', object('argoproj.io/v1alpha1', 'Workflow', done), { suspend: true }],
    ['a RayJob', object('ray.io/v1', 'RayJob', done), { suspend: true }],
    ['a PipelineRun', object('tekton.dev/v1', 'PipelineRun', done), { status: 'PipelineRunPending' }],
  ])('--suspended restores %s suspended', (_, finished, spec) => {
    const { object: created, skip } = prepareOne(recordOf(finished), { suspended: true });
    expect(skip).toBeUndefined();
    expect(created.spec).toMatchObject(spec);
  });

  test('--suspended skips kinds that cannot be suspended', () => {
    const record = recordOf(object('tekton.dev/v1', 'TaskRun', done));
    expect(prepareOne(record, { suspended: true }).skip).toContain('cannot be suspended');
  });

  test('a running Job that was deleted because of its age is restored', () => {
    expect(prepareOne(recordOf(object('batch/v1', 'Job', { spec: { template: {} } }))).skip).toBeUndefined();
  });
});

test('a Cleaner is skipped, because it would delete its targets again', () => {
  const record = recordOf(object('cleaner.vtex.dev/v1alpha', 'Cleaner'));
  expect(prepareOne(record).skip).toBe('it would delete its targets again');
});
