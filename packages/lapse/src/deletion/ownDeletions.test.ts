import { instant } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { ConfigMap, configMap } from '@lapse/runtime/world.testkit';
import { describe, expect, test } from 'vitest';
import { OwnDeletions, objectId, type SentDelete } from './ownDeletions.ts';

const object = (metadata: Partial<KubeObject['metadata']> = {}): KubeObject =>
  configMap('a', {}, { uid: 'u1', resourceVersion: '7', ...metadata });
const sent: SentDelete<string> = {
  kind: ConfigMap,
  object: object(),
  since: instant(0),
  because: 'by age',
};
const ID = objectId(ConfigMap, { namespace: 'default', name: 'a' });

describe('a DELETE without an answer', () => {
  test.each<[string, KubeObject | undefined, outcome: string | undefined, state: string]>([
    ['is unknown while the object is unchanged', object(), undefined, 'unanswered'],
    ['is unknown while the cache is behind', object({ resourceVersion: '6' }), undefined, 'unanswered'],
    ['took effect if the object is gone', undefined, 'deleted', 'accepted'],
    ['took effect if another object has the name', object({ uid: 'u2' }), 'deleted', 'accepted'],
    [
      'took effect if the object is terminating',
      object({ resourceVersion: '8', deletionTimestamp: '2026-01-01T00:00:00Z' }),
      'terminating',
      'accepted',
    ],
    ['failed if the object exists in a later version', object({ resourceVersion: '8' }), undefined, 'none'],
  ])('%s', (_name, seen, outcome, state) => {
    const own = new OwnDeletions<string>();
    own.addUnanswered(sent);
    expect(own.resolve(objectId(ConfigMap, { name: 'b' }), undefined)).toBeUndefined();
    expect(own.resolve(ID, seen)).toEqual(outcome === undefined ? undefined : { sent, outcome });
    const isUnanswered = own.unanswered(ID) !== undefined;
    expect([isUnanswered, own.isAccepted(ID, 'u1'), own.has(ID, 'u1')]).toEqual([
      state === 'unanswered',
      state === 'accepted',
      state !== 'none',
    ]);
    expect(own.resolve(ID, undefined) !== undefined).toBe(state === 'unanswered');
  });
});

test('an accepted DELETE is reported as new once per object', () => {
  const own = new OwnDeletions<string>();
  own.addUnanswered(sent);
  expect([own.accept(ID, 'u1'), own.accept(ID, 'u1'), own.accept(ID, 'u2')]).toEqual([true, false, true]);
  expect([own.has(ID), own.has(ID, 'u1'), own.has(ID, 'u2')]).toEqual([true, false, true]);
  own.forget(ID);
  expect(own.has(ID)).toBe(false);
});

test('accepted DELETEs take no memory if they are not to be remembered', () => {
  const own = new OwnDeletions<string>({ remembersAccepted: false });
  own.addUnanswered(sent);
  expect([own.accept(ID, 'u1'), own.has(ID)]).toEqual([true, false]);
});

test('the id of an object does not depend on the version of its kind', () => {
  const kind = { group: 'batch', resource: 'jobs' };
  expect(objectId(kind, { namespace: 'ci', name: 'a' })).toBe('jobs.batch/ci/a');
  expect(objectId({ group: '', resource: 'nodes' }, { name: 'worker-1' })).toBe('nodes.//worker-1');
});
