import type { KubeObject } from '@lapse/kube/api/object';
import { expect, test } from 'vitest';
import { OpenDeletions } from './openDeletions.ts';
import { run, time } from './policy.testkit.ts';

const changed = (metadata: KubeObject['metadata']) => run(0, { metadata });

test.each<[string, KubeObject | undefined, outcome: string | undefined, isOpen: boolean]>([
  ['unchanged: the result is unknown', run(0), undefined, true],
  ['gone: the DELETE took effect', undefined, 'deleted', false],
  ['another object of the same name: the DELETE took effect', changed({ uid: 'u2' }), 'deleted', false],
  [
    'terminating: the DELETE took effect',
    changed({ resourceVersion: '8', deletionTimestamp: time(1) }),
    'terminating',
    false,
  ],
  [
    'exists in another version: the DELETE did not take effect',
    changed({ resourceVersion: '8' }),
    undefined,
    false,
  ],
])('%s', (_name, seen, outcome, isOpen) => {
  const deletions = new OpenDeletions<string>();
  deletions.add('runs/a', run(0), 'by age');
  expect(deletions.close('runs/b', undefined)).toBeUndefined();
  const closed = deletions.close('runs/a', seen);
  expect([closed?.outcome, closed?.decided]).toEqual(
    outcome === undefined ? [undefined, undefined] : [outcome, 'by age'],
  );
  expect(deletions.close('runs/a', undefined) !== undefined).toBe(isOpen);
});
