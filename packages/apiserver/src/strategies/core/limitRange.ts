// Strategy of LimitRange: the bounds of each type must be consistent. They are not enforced here.

import { uuid } from '@lapse/base/random';
import { duplicate, type FieldError, forbidden, invalid, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { checkQualifiedName } from '@lapse/kube/api/names';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Strategy, specOf } from '../../resources/resource.ts';
import { check, metaOf } from '../checks.ts';
import { subdomainName } from '../names.ts';
import {
  compareQuantities,
  containerResourceName,
  isOvercommitAllowed,
  resourceName,
} from '../quantities.ts';
import { entries, objects, part, text, value } from '../values.ts';

const TYPES = ['Container', 'Pod', 'PersistentVolumeClaim'];

function validate(range: KubeObject): FieldError[] {
  const limits = objects(specOf(range), 'limits');
  return limits.flatMap((limit, i) => {
    const path = `spec.limits[${i}]`;
    const type = text(limit, 'type');
    const repeated = limits.slice(0, i).some((l) => text(l, 'type') === type);
    return [
      ...typeErrors(type, `${path}.type`),
      ...(repeated ? [duplicate(`${path}.type`, type)] : []),
      ...nameErrors(limit, type, path),
      ...boundErrors(limit, path),
    ];
  });
}

function typeErrors(type: string, path: string): FieldError[] {
  const odd = check(checkQualifiedName, type, path);
  if (odd.length > 0 || type.includes('/') || TYPES.includes(type)) return odd;
  return [invalid(path, type, 'must be a standard limit type or fully qualified')];
}

function nameErrors(limit: JsonObject, type: string, path: string): FieldError[] {
  const rule = type === 'Pod' || type === 'Container' ? containerResourceName : resourceName;
  const names = (list: string) =>
    entries(part(limit, list)).flatMap(([name]) => rule(name, `${path}.${list}[${name}]`));
  const errors = [...names('max'), ...names('min')];
  for (const list of ['default', 'defaultRequest']) {
    if (type !== 'Pod') errors.push(...names(list));
    else if (entries(part(limit, list)).length > 0)
      errors.push(forbidden(`${path}.${list}`, "may not be specified when `type` is 'Pod'"));
  }
  const bounded = ['min', 'max'].some((list) => Object.hasOwn(part(limit, list), 'storage'));
  if (type === 'PersistentVolumeClaim' && !bounded) {
    const why = 'either minimum or maximum storage value is required, but neither was provided';
    errors.push(required(`${path}.limits`, why));
  }
  return [...errors, ...names('maxLimitRequestRatio')];
}

const LISTS = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;

/** Pairs of lists where one may not exceed the other, with the field and value for the error. */
const ORDER = [
  ['min', 'max', 'min', 'min', 'min value', 'max value'],
  ['min', 'defaultRequest', 'defaultRequest', 'defaultRequest', 'min value', 'default request value'],
  ['defaultRequest', 'max', 'defaultRequest', 'defaultRequest', 'default request value', 'max value'],
  [
    'defaultRequest',
    'default',
    'defaultRequest',
    'defaultRequest',
    'default request value',
    'default limit value',
  ],
  ['min', 'default', 'default', 'min', 'min value', 'default value'],
  ['default', 'max', 'default', 'max', 'default value', 'max value'],
] as const;

function boundErrors(limit: JsonObject, path: string): FieldError[] {
  const names = new Set(LISTS.flatMap((list) => Object.keys(part(limit, list))));
  const isPod = text(limit, 'type') === 'Pod';
  const amount = (list: string, name: string) =>
    isPod && list.startsWith('default') ? undefined : value(part(limit, list), name);
  return [...names].sort().flatMap((name) => {
    const errors: FieldError[] = [];
    for (const [low, high, field, shown, lowText, highText] of ORDER) {
      const [a, b] = [amount(low, name), amount(high, name)];
      if (a === undefined || b === undefined || compareQuantities(a, b) <= 0) continue;
      const why = `${lowText} ${a} is greater than ${highText} ${b}`;
      errors.push(invalid(`${path}.${field}[${name}]`, amount(shown, name), why));
    }
    const ratio = amount('maxLimitRequestRatio', name);
    if (ratio !== undefined && compareQuantities(ratio, '1') < 0)
      errors.push(invalid(`${path}.maxLimitRequestRatio[${name}]`, ratio, `ratio ${ratio} is less than 1`));
    const [limitValue, request] = [amount('default', name), amount('defaultRequest', name)];
    if (!isOvercommitAllowed(name) && limitValue !== undefined && request !== undefined)
      if (compareQuantities(limitValue, request) !== 0) {
        const why = `default value ${limitValue} must equal to defaultRequest value ${request} in ${name}`;
        errors.push(invalid(`${path}.defaultRequest[${name}]`, request, why));
      }
    return errors;
  });
}

/** Limits of containers are the default for requests and defaults. */
function applyDefaults(range: KubeObject): void {
  for (const limit of objects(specOf(range), 'limits')) {
    if (text(limit, 'type') !== 'Container') continue;
    fillFrom(limit, 'default', part(limit, 'max'));
    fillFrom(limit, 'defaultRequest', part(limit, 'default'));
    fillFrom(limit, 'defaultRequest', part(limit, 'min'));
  }
}

function fillFrom(limit: JsonObject, list: string, from: JsonObject): void {
  const merged: JsonObject = { ...from, ...part(limit, list) };
  if (Object.keys(merged).length > 0) limit[list] = merged;
}

export const limitRangeStrategy: Strategy = {
  nameRule: subdomainName,
  createOnUpdate: true,
  validatesMeta: true,
  applyDefaults,
  prepareForCreate({ metadata }, { random }) {
    if (!metadata.name) metadata.name = uuid(random);
  },
  validate,
  validateUpdate: (next) => [...metaOf(next, true, subdomainName), ...validate(next)],
};
