import { Job, Pod } from '@lapse/kube/api/kinds/builtin';
import type { Propagation } from '@lapse/kube/client/delete';
import { expect, test } from 'vitest';
import { nameOf } from '#controllers/forecaster';
import { Ownership } from './cascade/ownership.ts';
import { computeRefusal } from './refusal.ts';

interface Case {
  readonly finalizers: string[];
  readonly propagation?: Propagation;
  readonly anyVersion?: boolean;
  readonly kind?: typeof Job | typeof Pod;
}

test.each<[string, Case, boolean]>([
  ['accepted without any finalizer', { finalizers: [], propagation: 'Background' }, false],
  [
    'refused with the orphan finalizer and background propagation',
    { finalizers: ['orphan'], propagation: 'Background' },
    true,
  ],
  [
    'refused with the foreground finalizer and background propagation',
    { finalizers: ['foregroundDeletion'], propagation: 'Background' },
    true,
  ],
  [
    'accepted with the orphan finalizer and orphan propagation',
    { finalizers: ['orphan'], propagation: 'Orphan' },
    false,
  ],
  ['accepted with the orphan finalizer without a propagation policy', { finalizers: ['orphan'] }, false],
  [
    'accepted with the orphan finalizer and foreground propagation',
    { finalizers: ['orphan'], propagation: 'Foreground' },
    false,
  ],
  [
    'accepted with an additional foreign finalizer',
    { finalizers: ['orphan', 'x.dev/hold'], propagation: 'Background' },
    false,
  ],
  [
    'accepted without a resourceVersion precondition',
    { finalizers: ['orphan'], propagation: 'Background', anyVersion: true },
    false,
  ],
  [
    'accepted for kinds that are marked first',
    { finalizers: ['orphan'], propagation: 'Background', kind: Pod },
    false,
  ],
])('a deletion is refused or not: %s', (_, { finalizers, kind = Job, ...asked }, isRefused) => {
  const ownership = new Ownership([], new Set());
  const one = { apiVersion: '', kind: '', metadata: { name: 'a', namespace: 'ns', uid: 'a', finalizers } };
  ownership.add(kind, one);
  expect(computeRefusal({ object: nameOf(kind, one), ...asked }, ownership) !== undefined).toBe(isRefused);
  expect(computeRefusal({ object: nameOf(kind, one), ...asked }, undefined)).toBeUndefined();
});
