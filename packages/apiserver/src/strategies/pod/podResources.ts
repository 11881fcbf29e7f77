// Requests and limits of a whole Pod: missing values default to the sum of the containers, and all must be
// consistent.

import { type FieldError, forbidden, invalid, notSupported } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { canonicalQuantity } from '#schema/quantity';
import { compareQuantities, isHugePages, isOvercommitAllowed, nanos, resourceName } from '../quantities.ts';
import { child, ensure, entries, has, objects, part, text } from '../values.ts';
import { validateResources } from './resources.ts';

const isSupported = (name: string) => name === 'cpu' || name === 'memory' || isHugePages(name);

const NANO = 1_000_000_000n;
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** The sum in the format of the first quantity. */
function sum(a: string, b: string): string {
  const total = nanos(a) + nanos(b);
  if (!a.endsWith('i') || total % NANO !== 0n) return canonicalQuantity(decimal(total));
  let [amount, power] = [total / NANO, 0];
  while (amount !== 0n && amount % 1024n === 0n && power < BINARY.length - 1)
    [amount, power] = [amount / 1024n, power + 1];
  return `${amount}${BINARY[power]}`;
}

const decimal = (amount: bigint): string => {
  const size = amount < 0n ? -amount : amount;
  return `${amount < 0n ? '-' : ''}${size / NANO}.${String(size % NANO).padStart(9, '0')}`;
};

type Amounts = Record<string, string>;

/** No prototype: any name is possible. */
const none = (): Amounts => Object.create(null) as Amounts;

function add(to: Amounts, list: JsonObject): void {
  for (const [name, amount] of entries(list))
    to[name] = Object.hasOwn(to, name) ? sum(to[name]!, String(amount)) : String(amount);
}

function raise(to: Amounts, list: Amounts): void {
  for (const [name, amount] of Object.entries(list))
    if (!Object.hasOwn(to, name) || compareQuantities(amount, to[name]) > 0) to[name] = amount;
}

/** The resources that all containers need at the same time. Init containers run before the others, except sidecars. */
function total(spec: JsonObject, list: 'requests' | 'limits'): Amounts {
  const own = (container: JsonObject) => part(part(container, 'resources'), list);
  const running: Amounts = none();
  for (const container of objects(spec, 'containers')) add(running, own(container));
  const staying: Amounts = none();
  const starting: Amounts = none();
  for (const container of objects(spec, 'initContainers')) {
    const now: Amounts = none();
    if (text(container, 'restartPolicy') === 'Always') {
      add(running, own(container));
      add(staying, own(container));
    } else add(now, own(container));
    add(now, staying);
    raise(starting, now);
  }
  raise(running, starting);
  return running;
}

export function defaultPodResources(spec: JsonObject): void {
  const resources = child(spec, 'resources');
  if (!resources) return;
  const [limits, requests] = [part(resources, 'limits'), part(resources, 'requests')];
  if (Object.keys(limits).length + Object.keys(requests).length === 0) return;
  for (const [name, amount] of Object.entries(total(spec, 'limits')))
    if (isHugePages(name) && !Object.hasOwn(requests, name) && !Object.hasOwn(limits, name))
      ensure(resources, 'limits')[name] = amount;
  if (Object.keys(part(resources, 'limits')).length === 0) return;
  const asked = Object.entries(total(spec, 'requests')).filter(
    ([name]) => isSupported(name) && isOvercommitAllowed(name),
  );
  const missing = [...asked, ...entries(part(resources, 'limits')).filter(([name]) => isSupported(name))];
  for (const [name, amount] of missing)
    if (!Object.hasOwn(part(resources, 'requests'), name)) ensure(resources, 'requests')[name] = amount;
}

export function validatePodResources(
  spec: JsonObject,
  claims: readonly string[],
  path: string,
): FieldError[] {
  const resources = child(spec, 'resources');
  if (!resources) return [];
  const at = `${path}.resources`;
  if (text(child(spec, 'os'), 'name') === 'windows')
    return [forbidden(at, 'may not be set for a windows pod')];
  return [
    ...(has(resources, 'claims')
      ? [forbidden(`${at}.claims`, 'claims may not be set for Resources at pod-level')]
      : []),
    ...validateResources(resources, at, claims, nameErrors),
    ...fitErrors(spec, resources, at),
  ];
}

function nameErrors(name: string, path: string): FieldError[] {
  const errors = resourceName(name, path);
  if (errors.length > 0 || isSupported(name)) return errors;
  return [notSupported(path, name, ['cpu', 'hugepages-', 'memory'])];
}

function fitErrors(spec: JsonObject, resources: JsonObject, path: string): FieldError[] {
  const [limits, requests] = [part(resources, 'limits'), part(resources, 'requests')];
  const above = (amount: string, list: JsonObject, name: string) =>
    Object.hasOwn(list, name) && compareQuantities(amount, list[name]) > 0;
  const errors: FieldError[] = [];
  for (const [name, amount] of Object.entries(total(spec, 'requests')))
    if (above(amount, requests, name)) {
      const why = `must be greater than or equal to aggregate container requests of ${amount}`;
      errors.push(invalid(`${path}.requests[${name}]`, requests[name], why));
    }
  for (const [name, amount] of Object.entries(total(spec, 'limits')))
    if (isHugePages(name) && above(amount, limits, name)) {
      const why = `must be greater than or equal to aggregate container limits of ${amount}`;
      errors.push(invalid(`${path}.limits[${name}]`, limits[name], why));
    }
  objects(spec, 'containers').forEach((container, i) => {
    for (const [name, amount] of entries(part(part(container, 'resources'), 'limits')))
      if (above(String(amount), limits, name)) {
        const why = `must be less than or equal to pod limits of ${limits[name]}`;
        errors.push(invalid(`${path}.containers[${i}][${name}].limits`, amount, why));
      }
  });
  return errors;
}
