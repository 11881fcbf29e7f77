import { Job, Pod } from '@lapse/kube/api/kinds/builtin';
import type { Propagation } from '@lapse/kube/client/delete';
import { expect, test } from 'vitest';
import { nameOf } from '#controllers/foresight';
import { Ownership } from './cascade/ownership.ts';
import { computeRefusal } from './refusal.ts';

interface Case {
  readonly finalizers: string[];
  readonly propagation?: Propagation;
  readonly anyVersion?: boolean;
  readonly kind?: typeof Job | typeof Pod;
}

test.each<[string, Case, boolean]>([
  ['nothing is against it', { finalizers: [], propagation: 'Background' }, false],
  ['it leaves orphans', { finalizers: ['orphan'], propagation: 'Background' }, true],
  ['it waits for what it owns', { finalizers: ['foregroundDeletion'], propagation: 'Background' }, true],
  ['it leaves orphans, and is to', { finalizers: ['orphan'], propagation: 'Orphan' }, false],
  ['it leaves orphans, and nobody says otherwise', { finalizers: ['orphan'] }, false],
  ['it is to wait instead', { finalizers: ['orphan'], propagation: 'Foreground' }, false],
  ['somebody keeps it', { finalizers: ['orphan', 'x.dev/hold'], propagation: 'Background' }, false],
  ['any version will do', { finalizers: ['orphan'], propagation: 'Background', anyVersion: true }, false],
  ['it is marked first', { finalizers: ['orphan'], propagation: 'Background', kind: Pod }, false],
])('a deletion is refused or not: %s', (_, { finalizers, kind = Job, ...asked }, isRefused) => {
  const ownership = new Ownership([], new Set());
  const one = { apiVersion: '', kind: '', metadata: { name: 'a', namespace: 'ns', uid: 'a', finalizers } };
  ownership.add(kind, one);
  expect(computeRefusal({ object: nameOf(kind, one), ...asked }, ownership) !== undefined).toBe(isRefused);
  expect(computeRefusal({ object: nameOf(kind, one), ...asked }, undefined)).toBeUndefined();
});
