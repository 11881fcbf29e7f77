// metadata.managedFields of the served objects: field types, the fields that each endpoint cannot own, and the
// manager of a write.

import { formatTime } from '@lapse/base/instant';
import { equal, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { apiVersionOf, asJson, type KubeObject } from '@lapse/kube/api/object';
import { BuiltinFieldTypes } from '#schema/apply/builtinFieldType';
import { customFieldType } from '#schema/apply/customFieldType';
import { type Endpoint, trackUpdate, type Write } from '#schema/apply/fieldManager';
import { FieldSet } from '#schema/apply/fieldSet';
import { decodeManagedFields } from '#schema/apply/managedFields';
import type { Call } from '../context.ts';
import { builtinTable, defaultsTable } from '../data/tables.ts';
import { type Resource, storageName } from '../resources/resource.ts';

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

let builtins: BuiltinFieldTypes | undefined;
const builtinTypes = () => (builtins ??= new BuiltinFieldTypes(builtinTable(), defaultsTable()));

const endpoints = new WeakMap<Resource, Map<string, Endpoint>>();

/** The endpoint of a request for field management. */
export function endpointOf({
  resource,
  subresource = '',
}: {
  readonly resource: Resource;
  readonly subresource?: string | undefined;
}): Endpoint {
  let known = endpoints.get(resource);
  if (known === undefined) {
    known = new Map();
    endpoints.set(resource, known);
  }
  let endpoint = known.get(subresource);
  if (endpoint === undefined) {
    endpoint = describeEndpoint(resource, subresource);
    known.set(subresource, endpoint);
  }
  return endpoint;
}

function describeEndpoint(resource: Resource, subresource: string): Endpoint {
  const { schema, patchType, kind } = resource;
  const apiVersion = apiVersionOf(resource);
  const types = builtinTypes();
  const plain = { apiVersion, kind };
  const empty: JsonObject = patchType === undefined ? plain : { ...types.zero(patchType), ...plain };
  const type =
    patchType === undefined ? customFieldType(schema, types.type(OBJECT_META)) : types.type(patchType);
  const ignored = ignoredFields(resource, subresource);
  return { type, empty, apiVersion, subresource, ignored };
}

const SPEC = ['f:spec'];
const STATUS = ['f:status'];
const METADATA = ['f:metadata'];

// Fields besides the spec that /status ignores.
const STATUS_IGNORES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'deployments.apps': [['f:metadata', 'f:labels']],
  pods: [
    ['f:metadata', 'f:deletionTimestamp'],
    ['f:metadata', 'f:ownerReferences'],
  ],
  'certificatesigningrequests.certificates.k8s.io': [['f:status', 'f:conditions']],
  'volumeattachments.storage.k8s.io': [METADATA],
  'validatingadmissionpolicies.admissionregistration.k8s.io': [METADATA],
  'flowschemas.flowcontrol.apiserver.k8s.io': [METADATA],
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': [METADATA],
  'servicecidrs.networking.k8s.io': [METADATA],
  'resourceclaims.resource.k8s.io': [METADATA],
};

/** The fields that a write through this endpoint cannot change and therefore cannot own. */
function ignoredFields(resource: Resource, subresource: string): FieldSet {
  const hasStatus = resource.subresources.some(({ name }) => name === 'status');
  if (!hasStatus) return FieldSet.EMPTY;
  const name = storageName(resource.group, resource.plural);
  if (subresource !== 'status') return FieldSet.of(STATUS);
  const more = resource.custom ? [METADATA] : (STATUS_IGNORES[name] ?? []);
  return FieldSet.of(SPEC, ...more);
}

/** The manager of a write: the fieldManager parameter, or the first word of the User-Agent. */
export function managerOf(call: Call, fieldManager: string): string {
  if (fieldManager !== '') return fieldManager;
  return managerNamed((call.request.headers['user-agent'] ?? '').split('/')[0]!);
}

let lastAgent: { readonly agent: string; readonly name: string } | undefined;

/** Caches the name for the last agent: clients write more than once. */
function managerNamed(agent: string): string {
  if (lastAgent?.agent !== agent) lastAgent = { agent, name: managerOfAgent(agent) };
  return lastAgent.name;
}

function managerOfAgent(agent: string): string {
  let name = '';
  for (const letter of agent) {
    if (!PRINTABLE.test(letter)) continue;
    if (Buffer.byteLength(name + letter) > MAX_MANAGER_BYTES) break;
    name += letter;
  }
  return name === '' ? 'unknown' : name;
}

const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const MAX_MANAGER_BYTES = 128;

export const writeOf = (call: Call, fieldManager: string): Pick<Write, 'manager' | 'now'> => ({
  manager: managerOf(call, fieldManager),
  now: formatTime(call.core.clock.now()),
});

/** Records in `next` which manager wrote which fields. */
export function recordManager(
  call: Call,
  fieldManager: string,
  next: KubeObject,
  live: KubeObject | undefined,
): void {
  const write: Write = {
    ...writeOf(call, fieldManager),
    ...(live === undefined ? {} : { live: asJson(live) }),
  };
  const entries = trackUpdate(endpointOf(call), write, asJson(next));
  if (entries === undefined) delete next.metadata.managedFields;
  else next.metadata.managedFields = entries;
  if (!call.resource.custom) dropEmptyLists(next);
}

/** Records that the server itself wrote the status. */
export function recordOwnStatus(resource: Resource, next: KubeObject, live: KubeObject, now: string): void {
  const write = { manager: OWN_NAME, now, live: asJson(live) };
  const entries = trackUpdate(endpointOf({ resource, subresource: 'status' }), write, asJson(next));
  if (entries !== undefined) next.metadata.managedFields = entries;
}

const OWN_NAME = 'kube-apiserver';

/**
 * Decoding drops empty lists, but field management needs them: an empty `managedFields` resets the managers, and an
 * empty list that Go writes as null has an owner.
 */
export function keepEmptyLists(sent: JsonObject, object: KubeObject): KubeObject {
  const fields = object as unknown as JsonObject;
  for (const name of Object.keys(fields))
    if (fields[name] === null && isEmptyList(sent[name])) fields[name] = [];
  const entries = isObject(sent['metadata']) ? sent['metadata']['managedFields'] : undefined;
  if (isEmptyList(entries)) object.metadata.managedFields = [];
  return object;
}

const isEmptyList = (value: Json | undefined): boolean => Array.isArray(value) && value.length === 0;

/** The opposite, after the managers are recorded: stored objects have no empty lists. */
function dropEmptyLists(object: KubeObject): void {
  const fields = object as unknown as JsonObject;
  for (const name of Object.keys(fields)) if (isEmptyList(fields[name])) fields[name] = null;
}

/** Why these entries are invalid, with the message of kube-apiserver; undefined when they are valid. */
function explainManagers(entries: KubeObject['metadata']['managedFields']): string | undefined {
  for (const [i, { operation, apiVersion, fieldsType = '' }] of ((entries ?? []) as JsonObject[]).entries()) {
    if (operation !== 'Apply' && operation !== 'Update') return 'operation must be `Apply` or `Update`';
    if (!apiVersion) return 'apiVersion must not be empty';
    if (fieldsType === '') return `missing fieldsType in managed fields entry ${i}`;
    if (fieldsType !== 'FieldsV1')
      return `invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${i}`;
  }
  return decodeManagedFields(entries as Json) === undefined ? 'error decoding versioned set' : undefined;
}

/** Restores entries that admission made invalid; returns the warning in that case. */
export function restoreManagers(
  { metadata }: KubeObject,
  before: KubeObject['metadata']['managedFields'],
): string | undefined {
  const why = explainManagers(metadata.managedFields);
  if (why === undefined) return undefined;
  if (before === undefined) delete metadata.managedFields;
  else metadata.managedFields = before;
  return `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${why}`;
}

/** Replaces the entries of `next` with those of `live` when they differ only in their times. */
export function withOldTimes(next: KubeObject, live: KubeObject): KubeObject {
  const mine = next.metadata.managedFields;
  const theirs = live.metadata.managedFields;
  if (mine === undefined || theirs === undefined || mine.length !== theirs.length) return next;
  const isSame = mine.every((entry, i) => equal({ ...entry, time: null }, { ...theirs[i], time: null }));
  return isSame ? { ...next, metadata: { ...next.metadata, managedFields: theirs } } : next;
}
