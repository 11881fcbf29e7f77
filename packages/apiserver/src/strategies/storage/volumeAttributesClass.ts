// Strategy of VolumeAttributesClass: has a protection finalizer; driver and parameters are immutable.

import { type FieldError, forbidden, required } from '@lapse/kube/api/fieldErrors';
import { equal } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Strategy } from '../../resources/resource.ts';
import { metaOf, metaUpdate } from '../checks.ts';
import { subdomainName } from '../names.ts';
import { stringMap, text, value } from '../values.ts';
import { protect } from './persistentVolume.ts';
import { validateParameters, validateProvisioner } from './storageClass.ts';

function validate(object: KubeObject): FieldError[] {
  const parameters = stringMap(object, 'parameters');
  const none = 'must contain at least one key/value pair';
  return [
    ...validateProvisioner(text(object, 'driverName'), 'driverName'),
    ...validateParameters(parameters),
    ...(Object.keys(parameters).length === 0 ? [required('parameters', none)] : []),
  ];
}

export const volumeAttributesClassStrategy: Strategy = {
  nameRule: subdomainName,
  returnDeleted: true,
  admit: (object, old) => protect(object, old, 'kubernetes.io/vac-protection'),
  validate,
  validatesMeta: true,
  validateUpdate: (next, old) => [
    ...metaUpdate(next, old),
    ...['driverName', 'parameters']
      .filter((field) => !equal(value(next, field), value(old, field)))
      .map((field) => forbidden(field, `updates to ${field} are forbidden.`)),
    ...metaOf(next, false, subdomainName),
    ...validate(next),
  ],
};
