// Strategy of ResourceQuota: validates names and amounts; scopes are immutable. Quotas are not enforced here.

import { type FieldError, invalid, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Strategy, specOf, statusOf } from '../../resources/resource.ts';
import { IMMUTABLE } from '../checks.ts';
import { subdomainName } from '../names.ts';
import { compareQuantities, isQuotaResource, quantityValue, quotaResourceName } from '../quantities.ts';
import { child, copyField, entries, objects, part, text, texts, value } from '../values.ts';

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

const POD_RESOURCES = ['cpu', 'memory'].flatMap((r) => [r, `requests.${r}`, `limits.${r}`]);

/** Whether a scope can apply to a resource; resources of other kinds always pass. */
function fits(scope: string, resource: string): boolean {
  if (!isQuotaResource(resource) || !SCOPES.includes(scope)) return true;
  if (scope === 'BestEffort') return resource === 'pods';
  if (scope === 'VolumeAttributesClass')
    return ['persistentvolumeclaims', 'requests.storage'].includes(resource);
  return resource === 'pods' || POD_RESOURCES.includes(resource);
}

function validate(quota: KubeObject): FieldError[] {
  const spec = specOf(quota);
  return [
    ...amounts(part(spec, 'hard'), 'spec.hard'),
    ...validateScopes(spec),
    ...validateSelector(spec, 'spec.scopeSelector.matchExpressions'),
  ];
}

function validateScopes(spec: JsonObject): FieldError[] {
  const scopes = texts(spec, 'scopes');
  const refuse = (why: string) => invalid('spec.scopes', scopes, why);
  const hard = Object.keys(part(spec, 'hard'));
  return [
    ...scopes.flatMap((scope) => [
      ...(SCOPES.includes(scope) ? [] : [refuse('unsupported scope')]),
      ...hard.filter((r) => !fits(scope, r)).map(() => refuse('unsupported scope applied to resource')),
    ]),
    ...OPPOSITES.filter((pair) => pair.every((s) => scopes.includes(s))).map(() =>
      refuse('conflicting scopes'),
    ),
  ];
}

const ONLY_EXISTS =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

function validateSelector(spec: JsonObject, path: string): FieldError[] {
  const expressions = objects(child(spec, 'scopeSelector'), 'matchExpressions');
  // As printed from the internal type.
  const shown = {
    MatchExpressions: expressions.map((e) => ({
      ScopeName: text(e, 'scopeName'),
      Operator: text(e, 'operator'),
      Values: value(e, 'values') ?? null,
    })),
  };
  const hard = Object.keys(part(spec, 'hard'));
  const scopes = expressions.map((e) => text(e, 'scopeName'));
  return [
    ...expressions.flatMap((expression, i) => [
      ...(SCOPES.includes(scopes[i]!) ? [] : [invalid(`${path}.scopeName`, scopes[i], 'unsupported scope')]),
      ...hard
        .filter((r) => !fits(scopes[i]!, r))
        .map(() => invalid(path, shown, 'unsupported scope applied to resource')),
      ...operatorErrors(expression, scopes[i]!, path),
    ]),
    ...OPPOSITES.filter((pair) => pair.every((s) => scopes.includes(s))).map(() =>
      invalid(path, value(spec, 'scopes') ?? null, 'conflicting scopes'),
    ),
  ];
}

function operatorErrors(expression: JsonObject, scope: string, path: string): FieldError[] {
  const [operator, values] = [text(expression, 'operator'), texts(expression, 'values')];
  const plain = SCOPES.includes(scope) && scope !== 'PriorityClass' && scope !== 'VolumeAttributesClass';
  const errors = plain && operator !== 'Exists' ? [invalid(`${path}.operator`, operator, ONLY_EXISTS)] : [];
  if (operator === 'In' || operator === 'NotIn') {
    const why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
    return values.length === 0 ? [...errors, required(`${path}.values`, why)] : errors;
  }
  if (operator === 'Exists' || operator === 'DoesNotExist') {
    const why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
    return values.length > 0 ? [...errors, invalid(`${path}.values`, values, why)] : errors;
  }
  return [...errors, invalid(`${path}.operator`, operator, 'not a valid selector operator')];
}

/** A request above the limit of the same resource can never be satisfied. */
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
