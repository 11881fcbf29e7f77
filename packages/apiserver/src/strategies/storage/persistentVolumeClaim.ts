// Strategy of PersistentVolumeClaim: has a protection finalizer, gets the default class, and can only grow when
// bound.

import { forbidden as refused } from '@lapse/kube/api/errors';
import { type FieldError, forbidden, invalid, notSupported } from '@lapse/kube/api/fieldErrors';
import { clone, equal, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Strategy, type StrategyContext, specOf, statusOf } from '../../resources/resource.ts';
import { IMMUTABLE, immutable, metaOf, metaUpdate, qualifiedName } from '../checks.ts';
import { defaultClass } from '../defaultClass.ts';
import { subdomainName } from '../names.ts';
import { basicQuantity, compareQuantities, nanos } from '../quantities.ts';
import { unifiedDiff } from '../unifiedDiff.ts';
import { assign, child, copyField, ensure, entries, flag, has, list, part, text, value } from '../values.ts';
import { validateClaimSpec } from './claimSpec.ts';
import { protect } from './persistentVolume.ts';
import { IS_DEFAULT_STORAGE_CLASS } from './storageClass.ts';

const PROTECTION = 'kubernetes.io/pvc-protection';
const OLD_CLASS = 'volume.beta.kubernetes.io/storage-class';

const sizeOf = (spec: JsonObject): Json | undefined =>
  value(part(part(spec, 'resources'), 'requests'), 'storage');

/** The class of a claim, from its spec or from the older annotation. */
const classOf = (claim: KubeObject): string =>
  claim.metadata.annotations?.[OLD_CLASS] ?? text(specOf(claim), 'storageClassName');

function admit(claim: KubeObject, old: KubeObject | undefined, context: StrategyContext): void {
  protect(claim, old, PROTECTION);
  const spec = ensure(claim, 'spec');
  if (old || has(spec, 'storageClassName') || claim.metadata.annotations?.[OLD_CLASS] !== undefined) return;
  const classes = context.list('storageclasses.storage.k8s.io');
  assign(spec, 'storageClassName', defaultClass(classes, IS_DEFAULT_STORAGE_CLASS));
}

/** Claims can grow only when bound, and only when their class allows expansion. */
function approve(claim: KubeObject, old: KubeObject | undefined, context: StrategyContext): void {
  if (!old || compareQuantities(sizeOf(specOf(claim)), sizeOf(specOf(old))) <= 0) return;
  const refuse = (why: string) =>
    refused({ group: '', plural: 'persistentvolumeclaims' }, claim.metadata.name ?? '', why);
  if (text(statusOf(old), 'phase') !== 'Bound')
    throw refuse('Only bound persistent volume claims can be expanded');
  const name = classOf(claim);
  const storageClass =
    name !== '' && name === classOf(old) ? context.get('storageclasses.storage.k8s.io', name) : undefined;
  if (flag(storageClass, 'allowVolumeExpansion') !== true)
    throw refuse(
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    );
}

const GROUPS: Readonly<Record<string, string>> = {
  PersistentVolumeClaim: '',
  VolumeSnapshot: 'snapshot.storage.k8s.io',
};

/** dataSource and dataSourceRef are the same value in two fields; the older field accepts only its original kinds. */
function joinDataSources(spec: JsonObject, before: JsonObject | undefined): void {
  const crossNamespace = text(child(spec, 'dataSourceRef'), 'namespace') !== '';
  if (crossNamespace && !has(before, 'dataSourceRef')) delete spec['dataSourceRef'];
  const inUse = has(before, 'dataSource') || has(before, 'dataSourceRef');
  const source = child(spec, 'dataSource');
  if (!inUse && !has(spec, 'dataSourceRef') && source) {
    const kind = text(source, 'kind');
    if (!Object.hasOwn(GROUPS, kind) || GROUPS[kind] !== text(source, 'apiGroup')) delete spec['dataSource'];
  }
  const [from, ref] = [child(spec, 'dataSource'), child(spec, 'dataSourceRef')];
  if (from && !ref) spec['dataSourceRef'] = { ...from };
  else if (ref && !from && text(ref, 'namespace') === '') spec['dataSource'] = { ...ref };
}

/** The spec as printed from the internal type of Kubernetes, for the diff in the error. */
function internalSpec(spec: JsonObject): Json {
  const resources = part(spec, 'resources');
  const amounts = (name: string) => child(resources, name) ?? null;
  const source = (name: string, namespaced: boolean) => {
    const ref = child(spec, name);
    if (!ref) return null;
    return {
      APIGroup: value(ref, 'apiGroup') ?? null,
      Kind: text(ref, 'kind'),
      Name: text(ref, 'name'),
      ...(namespaced ? { Namespace: value(ref, 'namespace') ?? null } : {}),
    };
  };
  return {
    AccessModes: has(spec, 'accessModes') ? list(spec, 'accessModes') : null,
    Selector: child(spec, 'selector') ?? null,
    Resources: { Limits: amounts('limits'), Requests: amounts('requests') },
    VolumeName: text(spec, 'volumeName'),
    StorageClassName: value(spec, 'storageClassName') ?? null,
    VolumeMode: value(spec, 'volumeMode') ?? null,
    DataSource: source('dataSource', false),
    DataSourceRef: source('dataSourceRef', true),
    VolumeAttributesClassName: value(spec, 'volumeAttributesClassName') ?? null,
  };
}

function validateSpecChange(next: KubeObject, old: KubeObject): FieldError[] {
  const [now, then] = [clone(specOf(next)), clone(specOf(old))];
  const bound = text(statusOf(next), 'phase') === 'Bound';
  if (text(then, 'volumeName') === '') copyField(then, now, 'volumeName');
  const errors = classErrors(next, old, now, then);
  const requests = child(child(now, 'resources'), 'requests');
  if (bound && requests) assign(requests, 'storage', sizeOf(then));
  if (bound) copyField(now, then, 'volumeAttributesClassName');
  if (!equal(now, then)) {
    const print = (spec: JsonObject) => JSON.stringify(internalSpec(spec), undefined, 1);
    const text =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    errors.push(forbidden('spec', `${text}\n${unifiedDiff(print(then), print(now))}`));
  }
  return errors;
}

/** A class may be set where there was none, or move from the annotation to the field. */
function classErrors(next: KubeObject, old: KubeObject, now: JsonObject, then: JsonObject): FieldError[] {
  const [annotation, before] = [
    next.metadata.annotations?.[OLD_CLASS],
    old.metadata.annotations?.[OLD_CLASS],
  ];
  const named = !has(then, 'storageClassName') && has(now, 'storageClassName');
  const fits = before === undefined || text(now, 'storageClassName') === before;
  if (named && fits) copyField(now, then, 'storageClassName');
  if (named && before !== undefined && fits && (annotation === undefined || annotation === before)) return [];
  if ((annotation ?? '') === (before ?? '')) return [];
  return [invalid(`metadata.annotations.${OLD_CLASS}`, annotation ?? '', IMMUTABLE)];
}

function validateSizeAndClass(next: KubeObject, old: KubeObject): FieldError[] {
  const [spec, before] = [specOf(next), specOf(old)];
  const errors: FieldError[] = [];
  const shrunk = compareQuantities(sizeOf(spec), sizeOf(before)) < 0;
  const capacity = value(part(statusOf(old), 'capacity'), 'storage');
  if (shrunk && compareQuantities(sizeOf(spec), capacity) <= 0)
    errors.push(forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity'));
  errors.push(...immutable(value(spec, 'volumeMode'), value(before, 'volumeMode'), 'volumeMode'));
  const name = 'volumeAttributesClassName';
  const current = has(statusOf(old), 'currentVolumeAttributesClassName');
  if (current && !equal(value(spec, name), value(before, name)) && text(spec, name) === '') {
    const to = has(spec, name) ? 'empty string' : 'nil';
    const why = `update to ${to} is forbidden when status.currentVolumeAttributesClassName is not nil`;
    errors.push(forbidden(`spec.${name}`, why));
  }
  return errors;
}

const RESIZE_STATUSES = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
];

function validateStatus(claim: KubeObject): FieldError[] {
  const status = statusOf(claim);
  const allocated = entries(part(status, 'allocatedResources')).flatMap(([name, amount]) => {
    const path = 'status.allocatedResources';
    const odd = resizableName(name, path);
    return odd.length > 0 ? odd : basicQuantity(amount, `${path}[${name}]`);
  });
  const resizing = entries(part(status, 'allocatedResourceStatuses')).flatMap(([name, state]) => {
    const path = 'status.allocatedResourceStatuses';
    const known = RESIZE_STATUSES.includes(String(state));
    return [...resizableName(name, path), ...(known ? [] : [notSupported(path, name, RESIZE_STATUSES)])];
  });
  return [
    ...entries(part(status, 'capacity')).flatMap(([name, amount]) =>
      basicQuantity(amount, `status.capacity[${name}]`),
    ),
    ...resizing,
    ...allocated,
  ];
}

/** Only storage and resources with their own domain can be resized. */
function resizableName(name: string, path: string): FieldError[] {
  const odd = qualifiedName(name, path);
  const native = !name.includes('/') || name.includes('kubernetes.io/');
  return odd.length > 0 || !native || name === 'storage' ? odd : [notSupported(path, name, ['storage'])];
}

function warnings(claim: KubeObject): string[] {
  const old = claim.metadata.annotations?.[OLD_CLASS] !== undefined;
  const text = `metadata.annotations[${OLD_CLASS}]: deprecated since v1.8; use "storageClassName" attribute instead`;
  const fractional = ['requests', 'limits'].flatMap((field) => {
    const amount = value(part(part(specOf(claim), 'resources'), field), 'storage');
    return nanos(amount) % 1_000_000_000n === 0n
      ? []
      : [
          `spec.resources.${field}[storage]: fractional byte value "${amount}" is invalid, must be an integer`,
        ];
  });
  return [...(old ? [text] : []), ...fractional];
}

export const persistentVolumeClaimStrategy: Strategy = {
  nameRule: subdomainName,
  returnDeleted: true,
  admit,
  approve,
  prepareForCreate(claim) {
    claim['status'] = { phase: 'Pending' };
    joinDataSources(ensure(claim, 'spec'), undefined);
  },
  validate: (claim) => validateClaimSpec(specOf(claim), 'spec'),
  prepareForUpdate(next, old) {
    copyField(next, old, 'status');
    joinDataSources(ensure(next, 'spec'), specOf(old));
  },
  validatesMeta: true,
  validateUpdate: (next, old) => [
    ...metaUpdate(next, old),
    ...metaOf(next, true, subdomainName),
    ...validateClaimSpec(specOf(next), 'spec'),
    ...validateSpecChange(next, old),
    ...validateSizeAndClass(next, old),
  ],
  warnings,
  subresources: {
    status: {
      prepareForUpdate: (next, old) => copyField(next, old, 'spec'),
      validateUpdate: validateStatus,
    },
  },
};
