// Validation of the container users and devices that a kubelet reports.

import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  required,
  tooLong,
} from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { dnsLabel, dnsSubdomain, inRange, oneOf } from '../checks.ts';
import { child, has, list, number, objects, part, text } from '../values.ts';

const MAX_ID = 2_147_483_647;
const MAX_MESSAGE = 1024;
const HEALTH = ['Healthy', 'Unhealthy', 'Unknown'];
const STATUSES = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'];

/** Drops fields of feature gates that are disabled by default. */
export function dropGatedStatus(status: JsonObject): void {
  delete status['nodeAllocatableResourceClaimStatuses'];
  for (const container of STATUSES.flatMap((field) => objects(status, field))) {
    for (const mount of objects(container, 'volumeMounts')) delete mount['volumeStatus'];
  }
}

export function validateDevices(status: JsonObject, spec: JsonObject): FieldError[] {
  const each = (field: string, check: (container: JsonObject, path: string) => FieldError[]) =>
    objects(status, field).flatMap((container, i) => check(container, `status.${field}[${i}]`));
  return [
    ...claimErrors(status, spec, 'status.resourceClaimStatuses'),
    ...extendedErrors(
      child(status, 'extendedResourceClaimStatus'),
      spec,
      'status.extendedResourceClaimStatus',
    ),
    ...STATUSES.flatMap((field) => each(field, (c, path) => userErrors(c, spec, path))),
    ...each('containerStatuses', (c, path) => healthErrors(c, objects(spec, 'containers'), path)),
    ...each('initContainerStatuses', (c, path) => healthErrors(c, objects(spec, 'initContainers'), path)),
    ...each('ephemeralContainerStatuses', (c, path) =>
      list(c, 'allocatedResourcesStatus').length === 0
        ? []
        : [forbidden(`${path}.allocatedResourcesStatus`, 'must not be specified in container status')],
    ),
  ];
}

function claimErrors(status: JsonObject, spec: JsonObject, path: string): FieldError[] {
  const known = objects(spec, 'resourceClaims').map((c) => text(c, 'name'));
  const names = new Set<string>();
  return objects(status, 'resourceClaimStatuses').flatMap((claim, i) => {
    const name = text(claim, 'name');
    const errors: FieldError[] = [];
    if (!known.includes(name)) {
      const why = 'must match the name of an entry in `spec.resourceClaims`';
      errors.push(invalid(`${path}[${i}].name`, name, why));
    }
    if (names.has(name)) errors.push(duplicate(`${path}[${i}].name`, name));
    names.add(name);
    if (!has(claim, 'resourceClaimName')) return errors;
    return [...errors, ...dnsSubdomain(text(claim, 'resourceClaimName'), `${path}[${i}].resourceClaimName`)];
  });
}

function extendedErrors(status: JsonObject | undefined, spec: JsonObject, path: string): FieldError[] {
  if (!status) return [];
  const mappings = objects(status, 'requestMappings');
  const containers = [...objects(spec, 'initContainers'), ...objects(spec, 'containers')];
  const seen = new Set<string>();
  const claim = text(status, 'resourceClaimName');
  return [
    ...(mappings.length === 0
      ? [required(`${path}.requestMappings`, 'at least one request mapping is required')]
      : []),
    ...mappings.flatMap((mapping, i) => [
      ...mappingErrors(mapping, containers, `${path}.requestMappings[${i}]`),
      // kube-apiserver omits the index here.
      ...dnsLabel(text(mapping, 'requestName'), `${path}.requestName`),
      ...repeatErrors(mapping, seen, `${path}.requestMappings[${i}]`),
    ]),
    ...(claim === ''
      ? [required(`${path}.resourceClaimName`)]
      : dnsSubdomain(claim, `${path}.resourceClaimName`)),
  ];
}

function mappingErrors(mapping: JsonObject, containers: JsonObject[], path: string): FieldError[] {
  const [name, resource] = [text(mapping, 'containerName'), text(mapping, 'resourceName')];
  const container = containers.findLast((c) => text(c, 'name') === name);
  if (!container) {
    const why = 'must match the name of an entry in spec.initContainers.name or spec.containers.name';
    return [invalid(`${path}.containerName`, name, why)];
  }
  if (has(part(part(container, 'resources'), 'requests'), resource)) return [];
  const why =
    'must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests';
  return [invalid(`${path}.resourceName`, resource, why)];
}

function repeatErrors(mapping: JsonObject, seen: Set<string>, path: string): FieldError[] {
  const fields = ['containerName', 'resourceName', 'requestName'];
  const key = fields.map((f) => text(mapping, f)).join('\0');
  const repeated = seen.has(key);
  seen.add(key);
  return repeated ? fields.map((f) => duplicate(`${path}.${f}`, text(mapping, f))) : [];
}

function userErrors(container: JsonObject, spec: JsonObject, path: string): FieldError[] {
  const user = child(child(container, 'user'), 'linux');
  const system = text(child(spec, 'os'), 'name') || 'linux';
  if (!user) return [];
  if (system === 'windows') return [forbidden(`${path}.user.linux`, 'cannot be set for a windows pod')];
  const idErrors = (id: number, at: string) =>
    id < 0 || id > MAX_ID ? [invalid(`${path}.user.linux.${at}`, id, inRange(0, MAX_ID))] : [];
  return [
    ...['uid', 'gid'].flatMap((field) => idErrors(number(user, field) ?? 0, field)),
    ...list(user, 'supplementalGroups').flatMap((id, i) => idErrors(Number(id), `supplementalGroups[${i}]`)),
  ];
}

function healthErrors(status: JsonObject, containers: JsonObject[], path: string): FieldError[] {
  const container = containers.find((c) => text(c, 'name') === text(status, 'name'));
  return objects(status, 'allocatedResourcesStatus').flatMap((allocated, j) => {
    const at = `${path}.allocatedResourcesStatus[${j}]`;
    const ids = new Set<string>();
    return [
      ...(container ? allocationErrors(text(allocated, 'name'), part(container, 'resources'), at) : []),
      ...objects(allocated, 'resources').flatMap((device, k) => {
        const id = text(device, 'resourceID');
        const errors = [
          ...oneOf(text(device, 'health'), HEALTH, `${at}.resources[${k}].health`),
          ...messageErrors(device, `${at}.resources[${k}].message`),
        ];
        if (ids.has(id)) errors.push(duplicate(`${at}.resources[${k}].resourceID`, id));
        ids.add(id);
        return errors;
      }),
    ];
  });
}

function messageErrors(device: JsonObject, path: string): FieldError[] {
  if (!has(device, 'message')) return [];
  const size = Buffer.byteLength(text(device, 'message'));
  if (size === 0) return [required(path, 'must be non-empty if specified')];
  return size > MAX_MESSAGE ? [tooLong(path, MAX_MESSAGE)] : [];
}

function allocationErrors(name: string, resources: JsonObject, path: string): FieldError[] {
  if (!name.startsWith('claim:')) {
    const why = "must match one of the container's resource requests";
    return has(part(resources, 'requests'), name) ? [] : [invalid(`${path}.name`, name, why)];
  }
  const known = objects(resources, 'claims').map((c) => {
    const request = text(c, 'request');
    return `claim:${text(c, 'name')}${request === '' ? '' : `/${request}`}`;
  });
  const why =
    "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
  return known.includes(name) ? [] : [invalid(`${path}.name`, name, why)];
}
