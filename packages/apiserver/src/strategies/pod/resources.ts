// Validation of requests and limits: names, amounts, and requests within limits.

import { type FieldError, forbidden, invalid, required } from '@lapse/kube/api/fieldErrors';
import type { Json, JsonObject } from '@lapse/kube/api/json';
import {
  compareQuantities,
  containerResourceName,
  isHugePages,
  isOvercommitAllowed,
  nanos,
  quantityValue,
} from '../quantities.ts';
import { entries, part, value } from '../values.ts';
import { validateClaimRefs } from './claims.ts';

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
    errors.push(...nameCheck(name, at), ...quantityValue(name, amount, at), ...pageErrors(name, amount, at));
  }
  for (const [name, amount] of entries(requests)) {
    const at = `${path}.requests[${name}]`;
    errors.push(...nameCheck(name, at), ...quantityValue(name, amount, at));
    errors.push(
      ...fitErrors(name, { amount: String(amount), limits, path }),
      ...pageErrors(name, amount, at),
    );
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory'))
    errors.push(forbidden(path, 'HugePages require cpu or memory'));
  return [...errors, ...validateClaimRefs(resources, claims, path)];
}

const NANO = 1_000_000_000n;
const ceil = (amount: bigint) => amount / NANO + (amount > 0n && amount % NANO !== 0n ? 1n : 0n);

/** Huge pages have whole amounts. */
function pageErrors(name: string, amount: Json, path: string): FieldError[] {
  if (!isHugePages(name)) return [];
  const size = nanos(name.slice('hugepages-'.length));
  const whole = size > 0n && size % NANO === 0n;
  if (whole && ceil(nanos(amount)) % (size / NANO) === 0n) return [];
  return [invalid(path, amount, `${amount} is not positive integer multiple of ${name}`)];
}

interface Request {
  readonly amount: string;
  readonly limits: JsonObject;
  readonly path: string;
}

function fitErrors(name: string, { amount, limits, path }: Request): FieldError[] {
  const limit = value(limits, name);
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
