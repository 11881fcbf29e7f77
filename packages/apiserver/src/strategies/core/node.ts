// Strategy of Node: created with the not-ready taint, may have a status on create; its Pod CIDRs and provider ID are
// immutable once set.

import { parseSloppyPrefix } from '@lapse/base/ipAddress';
import {
  duplicate,
  type FieldError,
  forbidden,
  internalError,
  invalid,
  notSupported,
  required,
} from '@lapse/kube/api/fieldErrors';
import { equal, type JsonObject } from '@lapse/kube/api/json';
import { checkLabelValue, checkQualifiedName } from '@lapse/kube/api/names';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Strategy, specOf, statusOf } from '../../resources/resource.ts';
import { legacyRange } from '../addresses.ts';
import { check, metaOf, metaUpdate } from '../checks.ts';
import { subdomainName } from '../names.ts';
import { quantityValue } from '../quantities.ts';
import { assign, child, copyField, ensure, entries, objects, part, text, texts } from '../values.ts';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function taintWhenNew(node: KubeObject, old: KubeObject | undefined): void {
  if (old) return;
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  const spec = ensure(node, 'spec');
  const present = objects(spec, 'taints');
  const same = (t: JsonObject) => text(t, 'key') === taint.key && text(t, 'effect') === taint.effect;
  if (!present.some(same)) spec['taints'] = [...present, taint];
}

/** podCIDR is the first of podCIDRs; allocatable defaults to capacity. */
function applyDefaults(node: KubeObject): void {
  const spec = child(node, 'spec');
  if (spec) joinRanges(spec);
  const status = child(node, 'status');
  if (!status) return;
  const capacity = child(status, 'capacity');
  if (capacity && !child(status, 'allocatable')) status['allocatable'] = { ...capacity };
}

function joinRanges(spec: JsonObject): void {
  const single = text(spec, 'podCIDR');
  const all = texts(spec, 'podCIDRs');
  // podCIDR wins: when podCIDRs is absent or has another first entry, it becomes a list of podCIDR only.
  if (single !== '' && all[0] !== single) spec['podCIDRs'] = [single];
  else if (single === '' && all.length > 0) spec['podCIDR'] = all[0]!;
}

function validate(node: KubeObject): FieldError[] {
  return [...validateTaints(specOf(node)), ...validateResources(node), ...validateRanges(specOf(node))];
}

function validateTaints(spec: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  objects(spec, 'taints').forEach((taint, i) => {
    const path = `metadata.taints[${i}]`;
    const effect = text(taint, 'effect');
    errors.push(...check(checkQualifiedName, text(taint, 'key'), `${path}.key`));
    const odd = checkLabelValue(text(taint, 'value'));
    if (odd.length > 0) errors.push(invalid(`${path}.value`, text(taint, 'value'), odd.join(';')));
    errors.push(...validateEffect(effect, `${path}.effect`));
    const pair = `${effect}\0${text(taint, 'key')}`;
    if (seen.has(pair)) {
      const { message, ...rest } = duplicate(path, internalTaint(taint));
      errors.push({ ...rest, message: `${message}: taints must be unique by key and effect pair` });
    }
    seen.add(pair);
  });
  return errors;
}

/** As printed from the internal types of Kubernetes. */
const internalTaint = (taint: JsonObject) => ({
  Key: text(taint, 'key'),
  Value: text(taint, 'value'),
  Effect: text(taint, 'effect'),
  TimeAdded: taint['timeAdded'] ?? null,
});
const internalAddress = (address: JsonObject) => ({
  Type: text(address, 'type'),
  Address: text(address, 'address'),
});

function validateEffect(effect: string, path: string): FieldError[] {
  if (effect === '') return [required(path)];
  return EFFECTS.includes(effect) ? [] : [notSupported(path, effect, EFFECTS)];
}

const validateResources = (node: KubeObject): FieldError[] => [
  ...['capacity', 'allocatable'].flatMap((list) =>
    entries(part(statusOf(node), list)).flatMap(([name, amount]) =>
      quantityValue(name, amount, `status.${list}.${name}`),
    ),
  ),
  ...validateFeatures(texts(statusOf(node), 'declaredFeatures'), 'status.declaredFeatures'),
];

const MAX_FEATURE = 253;
const FEATURE_FORM =
  "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";

/** Names must be sorted and unique. */
function validateFeatures(features: string[], path: string): FieldError[] {
  return features.flatMap((feature, i) => {
    const refuse = (why: string) =>
      invalid(`${path}[${i}]`, feature, `invalid feature name ${JSON.stringify(feature)}: ${why}`);
    const errors: FieldError[] = [];
    if (Buffer.byteLength(feature) > MAX_FEATURE)
      errors.push(refuse(`must be no more than ${MAX_FEATURE} characters`));
    else if (!/^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/.test(feature)) errors.push(refuse(FEATURE_FORM));
    const next = features[i + 1];
    if (next === feature) errors.push(duplicate(`${path}[${i + 1}]`, next));
    else if (next !== undefined && feature > next)
      errors.push(invalid(`${path}[${i + 1}]`, next, 'list must be sorted alphabetically'));
    return errors;
  });
}

function validateRanges(spec: JsonObject): FieldError[] {
  const ranges = texts(spec, 'podCIDRs');
  const path = 'spec.podCIDRs';
  const errors = ranges.flatMap((r, i) => legacyRange(r, `${path}[${i}]`));
  if (ranges.length < 2) return errors;
  const odd = ranges.findIndex((r) => !parseSloppyPrefix(r));
  if (odd >= 0) {
    const why = `invalid CIDR[${odd}]: <nil> (invalid CIDR address: ${ranges[odd]})`;
    errors.push(internalError(path, `invalid PodCIDRs. failed to check with dual stack with error:${why}`));
  }
  const families = new Set(ranges.map((r) => parseSloppyPrefix(r)?.address.family));
  if (odd >= 0 || families.size < 2 || ranges.length > 2)
    errors.push(invalid(path, ranges, 'may specify no more than one CIDR for each IP family'));
  return errors;
}

function validateChange(next: KubeObject, old: KubeObject): FieldError[] {
  const [spec, before] = [specOf(next), specOf(old)];
  const errors = [...metaUpdate(next, old), ...validateResources(next)];
  const addresses = objects(statusOf(next), 'addresses');
  addresses.forEach((address, i) => {
    if (addresses.slice(0, i).some((a) => equal(a, address)))
      errors.push(duplicate(`status.addresses[${i}]`, internalAddress(address)));
  });
  const once = (field: string, name: string) =>
    forbidden(`spec.${field}`, `node updates may not change ${name} except from "" to valid`);
  const ranges = texts(before, 'podCIDRs');
  if (ranges.length > 0 && !equal(ranges, texts(spec, 'podCIDRs'))) errors.push(once('podCIDRs', 'podCIDR'));
  const provider = text(before, 'providerID');
  if (provider !== '' && provider !== text(spec, 'providerID')) errors.push(once('providerID', 'providerID'));
  errors.push(...validateTaints(spec));
  if (text(spec, 'externalID') !== text(before, 'externalID'))
    errors.push(forbidden('spec.externalID', 'may not be updated'));
  return errors;
}

export const nodeStrategy: Strategy = {
  nameRule: subdomainName,
  applyDefaults,
  admit: taintWhenNew,
  prepareForCreate(node) {
    assign(ensure(node, 'spec'), 'configSource', undefined);
    assign(ensure(node, 'status'), 'config', undefined);
  },
  validate,
  prepareForUpdate(next, old) {
    copyField(next, old, 'status');
    assign(ensure(next, 'spec'), 'configSource', undefined);
  },
  validatesMeta: true,
  validateUpdate: (next, old) => [
    ...metaOf(next, false, subdomainName),
    ...validate(next),
    ...validateChange(next, old),
  ],
  warnings: (node) =>
    text(specOf(node), 'externalID') === ''
      ? []
      : ['spec.externalID: this field is deprecated, and is unused by Kubernetes'],
  subresources: {
    status: {
      prepareForUpdate(next, old) {
        copyField(next, old, 'spec');
        if (!child(statusOf(old), 'config')) assign(ensure(next, 'status'), 'config', undefined);
      },
      validatesMeta: true,
      validateUpdate: validateChange,
    },
  },
};
