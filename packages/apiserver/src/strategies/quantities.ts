// Quantities as numbers: canonical texts (`500m`, `1Gi`, `1e3`), compared exactly in billionths.

import { type FieldError, invalid } from '@lapse/kube/api/fieldErrors';
import { type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';
import { checkQualifiedName } from '@lapse/kube/api/names';
import { check, NEGATIVE } from './checks.ts';

const NANO = 1_000_000_000n;
const SCALES: Readonly<Record<string, bigint>> = {
  n: 1n,
  u: 1000n,
  m: 1_000_000n,
  '': NANO,
  k: NANO * 10n ** 3n,
  M: NANO * 10n ** 6n,
  G: NANO * 10n ** 9n,
  T: NANO * 10n ** 12n,
  P: NANO * 10n ** 15n,
  E: NANO * 10n ** 18n,
  Ki: NANO << 10n,
  Mi: NANO << 20n,
  Gi: NANO << 30n,
  Ti: NANO << 40n,
  Pi: NANO << 50n,
  Ei: NANO << 60n,
};

/** The amount in billionths. An invalid quantity is zero: decoding already rejected it. */
export function nanos(quantity: Json | undefined): bigint {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:([eE][+-]?\d{1,2})|([a-zA-Z]{0,2}))$/.exec(
    String(quantity ?? '0'),
  );
  if (!match) return 0n;
  const [, sign, whole = '', fraction = '', exponent, suffix = ''] = match;
  const power = exponent ? Number(exponent.slice(1)) : 0;
  const scale = exponent ? NANO : (SCALES[suffix] ?? NANO);
  const digits = BigInt(`${whole}${fraction}` || '0') * scale;
  const shift = power - fraction.length;
  const size = shift >= 0 ? digits * 10n ** BigInt(shift) : divideUp(digits, 10n ** BigInt(-shift));
  return sign === '-' ? -size : size;
}

const divideUp = (a: bigint, b: bigint) => (a + b - 1n) / b;

export const compareQuantities = (a: Json | undefined, b: Json | undefined): number => {
  const [x, y] = [nanos(a), nanos(b)];
  return x < y ? -1 : x > y ? 1 : 0;
};

const isWhole = (quantity: Json) => nanos(quantity) % NANO === 0n;

const SCOPED = ['cpu', 'memory', 'ephemeral-storage'];
const COUNTED = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];
const QUOTA: ReadonlySet<string> = new Set([
  ...SCOPED,
  ...SCOPED.map((r) => `requests.${r}`),
  ...SCOPED.map((r) => `limits.${r}`),
  'requests.storage',
  ...COUNTED,
]);
const STANDARD = new Set([...QUOTA, 'storage']);

export const isHugePages = (name: string) => name.startsWith('hugepages-');
const isQuotaHugePages = (name: string) => isHugePages(name) || name.startsWith('requests.hugepages-');
/** Resources with a built-in meaning for quotas. */
export const isQuotaResource = (name: string) => QUOTA.has(name) || isQuotaHugePages(name);
const isNative = (name: string) => !name.includes('/') || name.includes('kubernetes.io/');
export const isOvercommitAllowed = (name: string) => isNative(name) && !isHugePages(name);
export const isExtended = (name: string) =>
  !isNative(name) && !name.startsWith('requests.') && checkQualifiedName(`requests.${name}`).length === 0;

/** Validates resource names in general. */
export function resourceName(name: string, path: string): FieldError[] {
  const errors = check(checkQualifiedName, name, path);
  if (errors.length > 0 || name.includes('/') || STANDARD.has(name) || isQuotaHugePages(name)) return errors;
  return [invalid(path, name, 'must be a standard resource type or fully qualified')];
}

/** Validates names of resources that a container can request. */
export function containerResourceName(name: string, path: string): FieldError[] {
  const errors = resourceName(name, path);
  if (!name.includes('/')) {
    if (!SCOPED.includes(name) && !isHugePages(name))
      errors.push(invalid(path, name, 'must be a standard resource for containers'));
  } else if (!isNative(name) && !isExtended(name))
    errors.push(invalid(path, name, "doesn't follow extended resource name standard"));
  return errors;
}

export function quotaResourceName(name: string, path: string): FieldError[] {
  const errors = resourceName(name, path);
  if (!name.includes('/') && !isQuotaResource(name))
    errors.push(invalid(path, name, 'must be a standard resource for quota'));
  return errors;
}

/** No negative amounts, and no fractions of countable resources. */
export function quantityValue(name: string, quantity: Json, path: string): FieldError[] {
  const errors = nonNegativeQuantity(quantity, path);
  if ((COUNTED.includes(name) || isExtended(name)) && !isWhole(quantity))
    errors.push(invalid(path, quantity, 'must be an integer'));
  return errors;
}

export const nonNegativeQuantity = (quantity: Json, path: string): FieldError[] =>
  nanos(quantity) < 0n ? [invalid(path, quantity, NEGATIVE)] : [];

/** Rejects negative amounts, where Kubernetes prints them as whole numbers. */
export function basicQuantity(quantity: Json, path: string): FieldError[] {
  const amount = nanos(quantity);
  if (amount >= 0n) return [];
  const whole = -((-amount + NANO - 1n) / NANO);
  return [invalid(path, Number(whole), 'must be a valid resource quantity')];
}

/** A ResourceList with its missing entries taken from another one; the identical list when nothing is missing. */
export function withMissing(list: JsonObject | undefined, from: JsonObject): JsonObject {
  const out: JsonObject = { ...list };
  for (const [name, amount] of Object.entries(from))
    if (!Object.hasOwn(out, name) && amount !== undefined) setOwn(out, name, amount);
  return out;
}
