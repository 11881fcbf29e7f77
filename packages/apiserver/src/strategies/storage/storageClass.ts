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
    ...(provisioner === ''
      ? [required('provisioner')]
      : qualifiedName(provisioner.toLowerCase(), 'provisioner')),
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

function validateParameters(parameters: Record<string, string>): FieldError[] {
  const errors: FieldError[] = [];
  const all = Object.entries(parameters);
  if (all.length > MAX_PARAMETERS) errors.push(tooLong('parameters', MAX_PARAMETERS));
  if (Object.hasOwn(parameters, '')) errors.push(invalid('parameters', '', 'field can not be empty.'));
  const bytes = all.reduce((sum, [k, v]) => sum + Buffer.byteLength(k) + Buffer.byteLength(v), 0);
  if (bytes > MAX_PARAMETER_BYTES) errors.push(tooLong('parameters', MAX_PARAMETER_BYTES));
  return errors;
}

const FROZEN = ['provisioner', 'reclaimPolicy', 'volumeBindingMode'];
const parametersOf = (storageClass: KubeObject) =>
  has(storageClass, 'parameters') ? sortedMap(stringMap(storageClass, 'parameters')) : undefined;

const IS_DEFAULT = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

/** The class of claims without a class: the newest one marked as default. */
export function defaultClass(classes: Iterable<KubeObject>): string | undefined {
  let best: KubeObject | undefined;
  for (const candidate of classes) {
    const { annotations = {} } = candidate.metadata;
    if (!IS_DEFAULT.some((key) => annotations[key] === 'true')) continue;
    if (!best || isBefore(candidate, best)) best = candidate;
  }
  return best?.metadata.name;
}

/** Newest first; created in the same second, by name. */
function isBefore(a: KubeObject, b: KubeObject): boolean {
  const [made, other] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  return made === other ? (a.metadata.name ?? '') < (b.metadata.name ?? '') : made > other;
}

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
