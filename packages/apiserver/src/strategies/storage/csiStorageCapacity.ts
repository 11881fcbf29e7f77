// Strategy of CSIStorageCapacity: the topology and the class are immutable.

import type { FieldError } from '@lapse/kube/api/fieldErrors';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Strategy } from '../../resources/resource.ts';
import { check, immutable, metaOf, metaUpdate } from '../checks.ts';
import { validateLabelSelector } from '../labelSelector.ts';
import { subdomainName } from '../names.ts';
import { nonNegativeQuantity } from '../quantities.ts';
import { child, text, value } from '../values.ts';

function validate(capacity: KubeObject): FieldError[] {
  const amount = value(capacity, 'capacity');
  return [
    ...validateLabelSelector(child(capacity, 'nodeTopology'), 'nodeTopology'),
    ...check(subdomainName, text(capacity, 'storageClassName'), 'storageClassName'),
    ...(amount === undefined ? [] : nonNegativeQuantity(amount, 'capacity')),
  ];
}

const FROZEN = ['nodeTopology', 'storageClassName'];

export const csiStorageCapacityStrategy: Strategy = {
  nameRule: subdomainName,
  unconditionalUpdate: false,
  validate,
  validatesMeta: true,
  validateUpdate: (next, old) => [
    ...metaOf(next, true, subdomainName),
    ...validate(next),
    ...metaUpdate(next, old),
    ...FROZEN.flatMap((field) => immutable(value(next, field), value(old, field), field)),
  ],
};
