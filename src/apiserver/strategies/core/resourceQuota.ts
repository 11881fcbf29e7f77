// ResourceQuota: names and amounts are checked, the scopes never change. Nothing enforces it here.

import { type FieldError, invalid } from '#api/fieldErrors';
import type { JsonObject } from '#api/json';
import type { KubeObject } from '#api/object';
import { type Strategy, specOf, statusOf } from '../../resources/resource.ts';
import { IMMUTABLE } from '../checks.ts';
import { subdomainName } from '../names.ts';
import { compareQuantities, quantityValue, quotaResourceName } from '../quantities.ts';
import { copyField, entries, part, texts } from '../values.ts';

const SCOPES = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'VolumeAttributesClass',
  'CrossNamespacePodAffinity',
];
const OPPOSITES = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

const amounts = (list: JsonObject, path: string): FieldError[] =>
  entries(list).flatMap(([name, amount]) => [
    ...quotaResourceName(name, `${path}[${name}]`),
    ...quantityValue(name, amount, `${path}[${name}]`),
  ]);

function validate(quota: KubeObject): FieldError[] {
  const spec = specOf(quota);
  const scopes = texts(spec, 'scopes');
  const errors = amounts(part(spec, 'hard'), 'spec.hard');
  for (const scope of scopes)
    if (!SCOPES.includes(scope)) errors.push(invalid('spec.scopes', scopes, 'unsupported scope'));
  for (const pair of OPPOSITES)
    if (pair.every((s) => scopes.includes(s)))
      errors.push(invalid('spec.scopes', scopes, 'conflicting scopes'));
  return errors;
}

/** A request above the limit of the same resource can never be met. */
function warnings(quota: KubeObject): string[] {
  const hard = part(specOf(quota), 'hard');
  return ['cpu', 'memory', 'storage', 'ephemeral-storage'].flatMap((name) => {
    const bare = name === 'cpu' || name === 'memory' ? [name] : [];
    const request = [`requests.${name}`, ...bare].find((r) => Object.hasOwn(hard, r));
    const limit = `limits.${name}`;
    if (!request || !Object.hasOwn(hard, limit) || compareQuantities(hard[request], hard[limit]) <= 0)
      return [];
    return [`ResourceQuota ${request} (${hard[request]}) should be less than ${limit} (${hard[limit]})`];
  });
}

export const resourceQuotaStrategy: Strategy = {
  nameRule: subdomainName,
  returnDeleted: true,
  prepareForCreate: (quota) => {
    quota['status'] = {};
  },
  validate,
  prepareForUpdate: (next, old) => copyField(next, old, 'status'),
  validateUpdate(next, old) {
    const [scopes, before] = [texts(specOf(next), 'scopes'), texts(specOf(old), 'scopes')];
    const same = new Set(scopes).symmetricDifference(new Set(before)).size === 0;
    return [...validate(next), ...(same ? [] : [invalid('spec.scopes', scopes, IMMUTABLE)])];
  },
  warnings: (next, old) => (old ? [] : warnings(next)),
  subresources: {
    status: {
      prepareForUpdate: (next, old) => copyField(next, old, 'spec'),
      validateUpdate: (next) => [
        ...amounts(part(statusOf(next), 'hard'), 'status.hard'),
        ...amounts(part(statusOf(next), 'used'), 'status.used'),
      ],
    },
  },
};
