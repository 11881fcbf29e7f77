// Strategy of StorageClass: the parameters for provisioning are immutable.

import { type FieldError, invalid, required, tooLong } from '@lapse/kube/api/fieldErrors';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Strategy } from '../../resources/resource.ts';
import { immutable, metaOf, metaUpdate, oneOf, qualifiedName } from '../checks.ts';
import { subdomainName } from '../names.ts';
import { has, sortedMap, stringMap, text, value } from '../values.ts';
import { validateTopologies } from './topologies.ts';

const MAX_PARAMETERS = 512;
const MAX_PARAMETER_BYTES = 256 * 1024;

function validate(storageClass: KubeObject): FieldError[] {
  const provisioner = text(storageClass, 'provisioner');
  const policy = text(storageClass, 'reclaimPolicy');
  return [
    ...validateProvisioner(provisioner, 'provisioner'),
    ...validateParameters(stringMap(storageClass, 'parameters')),
    ...(policy === '' ? [] : oneOf(policy, ['Delete', 'Retain'], 'reclaimPolicy')),
    ...(has(storageClass, 'volumeBindingMode')
      ? oneOf(
          text(storageClass, 'volumeBindingMode'),
          ['Immediate', 'WaitForFirstConsumer'],
          'volumeBindingMode',
        )
      : [required('volumeBindingMode')]),
    ...validateTopologies(storageClass, 'allowedTopologies'),
  ];
}

export const validateProvisioner = (name: string, path: string): FieldError[] =>
  name === '' ? [required(path)] : qualifiedName(name.toLowerCase(), path);

export function validateParameters(parameters: Record<string, string>): FieldError[] {
  const errors: FieldError[] = [];
  const all = Object.entries(parameters);
  if (all.length > MAX_PARAMETERS) return [tooLong('parameters', MAX_PARAMETERS)];
  if (Object.hasOwn(parameters, '')) errors.push(invalid('parameters', '', 'field can not be empty.'));
  const bytes = all.reduce((sum, [k, v]) => sum + Buffer.byteLength(k) + Buffer.byteLength(v), 0);
  if (bytes > MAX_PARAMETER_BYTES) errors.push(tooLong('parameters', MAX_PARAMETER_BYTES));
  return errors;
}

const FROZEN = ['provisioner', 'reclaimPolicy', 'volumeBindingMode'];
const parametersOf = (storageClass: KubeObject) =>
  has(storageClass, 'parameters') ? sortedMap(stringMap(storageClass, 'parameters')) : undefined;

/** Marks the class of claims without a class. */
export const IS_DEFAULT_STORAGE_CLASS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

export const storageClassStrategy: Strategy = {
  nameRule: subdomainName,
  returnDeleted: true,
  validate,
  validatesMeta: true,
  validateUpdate: (next, old) => [
    ...metaOf(next, false, subdomainName),
    ...validate(next),
    ...metaUpdate(next, old),
    ...immutable(parametersOf(next), parametersOf(old), 'parameters'),
    ...FROZEN.flatMap((f) => immutable(value(next, f), value(old, f), f)),
  ],
};
