// Requests and limits: names, amounts, and requests that fit under their limits.

import { type FieldError, forbidden, invalid, notFound, required } from '#api/fieldErrors';
import type { JsonObject } from '#api/json';
import {
  compareQuantities,
  containerResourceName,
  isHugePages,
  isOvercommitAllowed,
  quantityValue,
} from '../quantities.ts';
import { entries, objects, part, text } from '../values.ts';

type NameCheck = (name: string, path: string) => FieldError[];

export function validateResources(
  resources: JsonObject,
  path: string,
  claims: readonly string[],
  nameCheck: NameCheck = containerResourceName,
): FieldError[] {
  const limits = part(resources, 'limits');
  const requests = part(resources, 'requests');
  const errors: FieldError[] = [];
  for (const [name, amount] of entries(limits)) {
    const at = `${path}.limits[${name}]`;
    errors.push(...nameCheck(name, at), ...quantityValue(name, amount, at));
  }
  for (const [name, amount] of entries(requests)) {
    const at = `${path}.requests[${name}]`;
    errors.push(...nameCheck(name, at), ...quantityValue(name, amount, at));
    errors.push(...fitErrors(name, { amount: String(amount), limits, path }));
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory'))
    errors.push(forbidden(path, 'HugePages require cpu or memory'));
  return [...errors, ...validateClaims(resources, claims, path)];
}

interface Request {
  readonly amount: string;
  readonly limits: JsonObject;
  readonly path: string;
}

function fitErrors(name: string, { amount, limits, path }: Request): FieldError[] {
  const limit = limits[name];
  if (limit === undefined)
    return isOvercommitAllowed(name)
      ? []
      : [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')];
  const order = compareQuantities(amount, limit);
  if (order !== 0 && !isOvercommitAllowed(name))
    return [invalid(`${path}.requests`, amount, `must be equal to ${name} limit of ${limit}`)];
  return order > 0
    ? [invalid(`${path}.requests`, amount, `must be less than or equal to ${name} limit of ${limit}`)]
    : [];
}

function validateClaims(resources: JsonObject, known: readonly string[], path: string): FieldError[] {
  const suffix = known.length === 0 ? ' which is empty' : `: ${[...known].sort().join(', ')}`;
  return objects(resources, 'claims').flatMap((claim, i) => {
    const at = `${path}.claims[${i}]`;
    const name = text(claim, 'name');
    if (name === '') return [required(at)];
    if (known.includes(name)) return [];
    const { message, ...rest } = notFound(at, name);
    const detail = `must be one of the names in pod.spec.resourceClaims${suffix}`;
    return [{ ...rest, message: `${message}: ${detail}` }];
  });
}
