// PATCH with application/apply-patch+yaml (server-side apply): the applier takes ownership of the fields in the body.
// Creates the object when it does not exist.

import { badRequest, conflict } from '@lapse/kube/api/errors';
import { required } from '@lapse/kube/api/fieldErrors';
import type { HttpResponse } from '@lapse/kube/api/http';
import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { apiVersionOf, asJson, type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import { ApplyConflict, ApplyError, applyObject, type Endpoint } from '#schema/apply/fieldManager';
import type { Manager } from '#schema/apply/managedFields';
import { DecodeError } from '#schema/typed';
import type { Call } from '../context.ts';
import { BodyError } from '../decode/parsedBody.ts';
import { parseYaml } from '../decode/yaml.ts';
import { booleanParam, parseWriteOptions, type WriteOptions } from '../http/query.ts';
import { endpointOf, writeOf } from '../metadata/managedFields.ts';
import { matchNamespace } from './create.ts';
import { matchName, type UpdatePlan, updateObject } from './update.ts';

export const APPLY = 'application/apply-patch+yaml';

const MAX_DEPTH = 1000;

export interface ApplyRequest {
  readonly config: JsonObject;
  readonly options: WriteOptions;
  readonly force: boolean;
  /** The body has a resourceVersion. */
  readonly versioned: boolean;
}

export async function apply(call: Call): Promise<HttpResponse> {
  const request = parseApply(call);
  const plan: UpdatePlan = {
    make: (old) => result(call, request, old),
    createIfMissing: () => newObject(call, request),
    mayCreate: true,
    versioned: request.versioned,
    tracked: true,
  };
  return updateObject(call, plan, request.options);
}

/** Decodes the body as an object of the requested resource. */
export function parseApply(call: Call): ApplyRequest {
  const options = applyOptions(call);
  const config = readConfig(call, options);
  const versioned = Boolean(metadataOf(config)['resourceVersion']);
  return { config, options, versioned, force: booleanParam(call.query, 'force') ?? false };
}

function applyOptions(call: Call): WriteOptions {
  const anonymous = (call.query.get('fieldManager') ?? '') === '';
  const error = required('fieldManager', 'is required for apply patch');
  return parseWriteOptions(call.query, 'PatchOptions', anonymous ? [error] : []);
}

function newObject(call: Call, request: ApplyRequest): KubeObject {
  const object = result(call, request, undefined);
  delete object.metadata.resourceVersion;
  return object;
}

const metadataOf = (config: JsonObject): JsonObject =>
  isObject(config['metadata']) ? config['metadata'] : {};

function readConfig(call: Call, options: WriteOptions): JsonObject {
  const text = Buffer.from(call.request.body ?? []).toString('utf8');
  const { value, problems } = parsed(text);
  if (!isObject(value) && value !== null) throw badRequest(`error decoding YAML: ${noMap(value)}`);
  const config = value ?? {};
  checkKind(call, config);
  if (metadataOf(config)['managedFields'] != null) throw badRequest('metadata.managedFields must be nil');
  if (problems.length > 0 && options.fieldValidation === 'Strict')
    throw badRequest(`error strict decoding YAML: ${problems.join(', ')}`);
  if (options.fieldValidation === 'Warn')
    for (const problem of problems) if (!call.warnings.includes(problem)) call.warnings.push(problem);
  return config;
}

function noMap(value: Json): string {
  const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  const kind = found === 'bigint' ? 'number' : found;
  return `error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`;
}

function parsed(text: string) {
  try {
    return parseYaml(text, MAX_DEPTH);
  } catch (cause) {
    if (!(cause instanceof BodyError)) throw cause;
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${cause.message}`);
  }
}

/** The body must have the exact kind and apiVersion. */
function checkKind(call: Call, config: JsonObject): void {
  const { resource } = call;
  const kind = typeof config['kind'] === 'string' ? config['kind'] : '';
  const apiVersion = typeof config['apiVersion'] === 'string' ? config['apiVersion'] : '';
  if (kind === resource.kind && apiVersion === apiVersionOf(resource)) return;
  const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' };
  throw badRequest(`invalid object type: ${group}/${version}, Kind=${kind}`);
}

/** The managed fields after the apply; modifies nothing. */
export function appliedFields(
  call: Call,
  endpoint: Endpoint,
  { config, options, force }: ApplyRequest,
  old: KubeObject | undefined,
): JsonObject {
  const live = old === undefined ? {} : { live: asJson(old) };
  try {
    return applyObject(endpoint, { ...writeOf(call, options.fieldManager), ...live, config, force });
  } catch (cause) {
    throw refusal(call, config, cause);
  }
}

/** The object to store. */
function result(call: Call, request: ApplyRequest, old: KubeObject | undefined): KubeObject {
  const value = appliedFields(call, endpointOf(call), request, old);
  try {
    const { codec } = call.resource;
    const object = codec.complete?.(value) ?? (codec.convert?.(value) ?? codec.decode(value)).object;
    if (old === undefined) rejectUid(call, object);
    matchNamespace(call, object);
    matchName(call, object);
    return object;
  } catch (cause) {
    throw refusal(call, request.config, cause);
  }
}

/** An apply with a uid refers to an existing object. */
function rejectUid(call: Call, { metadata }: KubeObject): void {
  if (!metadata.uid) return;
  const why = `uid mismatch: the provided object specified uid ${metadata.uid}, and no existing object was found`;
  throw conflict(call.resource, call.name!, why);
}

function refusal(call: Call, config: JsonObject, cause: unknown): unknown {
  if (cause instanceof ApplyConflict) return conflictError(cause);
  if (cause instanceof ApplyError)
    return failure(`failed to create typed patch object (${describe(call, config)}): ${cause.message}`);
  if (cause instanceof DecodeError)
    return failure(
      `failed to convert new object (${describe(call, config)}) to proper version: ${unconvertible(call)}: ${cause.message}`,
    );
  return cause;
}

/** An unexpected error of kube-apiserver: 500 without a reason. */
const failure = (message: string): ApiError => new ApiError(500, undefined, message);

function describe(call: Call, config: JsonObject): string {
  const { name = '', namespace = '' } = metadataOf(config);
  const { group, version, kind } = call.resource;
  return `${String(namespace)}/${String(name)}; ${group}/${version}, Kind=${kind}`;
}

const unconvertible = ({ resource: { group, version, kind } }: Call): string =>
  `unable to convert unstructured object to ${group}/${version}, Kind=${kind}`;

function conflictError({ conflicts }: ApplyConflict): ApiError {
  const named = conflicts.map(({ manager, paths }) => ({
    who: describeManager(manager),
    id: idOf(manager),
    paths,
  }));
  const causes = named.flatMap(({ who, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${who}`, field })),
  );
  return new ApiError(409, 'Conflict', conflictMessage(named, causes.length), { causes });
}

interface Named {
  readonly who: string;
  readonly id: string;
  readonly paths: readonly string[];
}

function conflictMessage(named: readonly Named[], count: number): string {
  if (count === 1)
    return `Apply failed with 1 conflict: conflict with ${named[0]!.who}: ${named[0]!.paths[0]}`;
  const groups = [...named]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ who, paths }) => [`conflicts with ${who}:`, ...paths.map((path) => `- ${path}`)].join('\n'));
  return `Apply failed with ${count} conflicts: ${groups.join('\n')}`;
}

/** Sort key: kube-apiserver lists managers in this order. */
const idOf = ({ manager, operation, apiVersion, subresource }: Manager): string =>
  JSON.stringify({
    manager,
    operation,
    ...(operation === 'Update' ? { apiVersion } : {}),
    ...(subresource === '' ? {} : { subresource }),
  });

function describeManager({ manager, operation, apiVersion, subresource }: Manager): string {
  const named = JSON.stringify(manager) + (subresource === '' ? '' : ` with subresource "${subresource}"`);
  return operation === 'Update' ? `${named} using ${apiVersion}` : named;
}
