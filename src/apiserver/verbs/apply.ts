// PATCH with application/apply-patch+yaml: the fields of the body become the applier's, the object gets them, and is
// created when it does not exist.

import { badRequest, conflict } from '#api/errors';
import { required } from '#api/fieldErrors';
import type { HttpResponse } from '#api/http';
import { isObject, type Json, type JsonObject } from '#api/json';
import { apiVersionOf, asJson, type KubeObject, parseApiVersion } from '#api/object';
import { ApiError } from '#api/status';
import { ApplyConflict, ApplyError, applyObject } from '#schema/apply/fieldManager';
import type { Manager } from '#schema/apply/managedFields';
import { DecodeError } from '#schema/typed';
import { BodyError } from '../body.ts';
import type { Call } from '../context.ts';
import { endpointOf, writeOf } from '../managedFields.ts';
import { booleanParam, parseWriteOptions, type WriteOptions } from '../query.ts';
import { keyOf } from '../resources/resource.ts';
import { objectResponse, storedResponse } from '../respond.ts';
import { parseYaml } from '../yaml.ts';
import { createObject, matchNamespace } from './create.ts';
import { matchName, updateObject } from './update.ts';

export const APPLY = 'application/apply-patch+yaml';

const MAX_DEPTH = 1000;

interface Request {
  readonly config: JsonObject;
  readonly options: WriteOptions;
  readonly force: boolean;
}

export async function apply(call: Call): Promise<HttpResponse> {
  const options = applyOptions(call);
  const config = readConfig(call, options);
  const request = { config, options, force: booleanParam(call.query, 'force') ?? false };
  const exists = call.core.store.getHead(call.resource.storage, keyOf(call.namespace, call.name!));
  if (!exists && !call.subresource) return applyNew(call, request);
  const versioned = Boolean(metadataOf(config)['resourceVersion']);
  const make = (old: KubeObject) => result(call, request, old);
  return updateObject(call, { make, versioned, tracked: true }, options);
}

function applyOptions(call: Call): WriteOptions {
  const anonymous = (call.query.get('fieldManager') ?? '') === '';
  const error = required('fieldManager', 'is required for apply patch');
  return parseWriteOptions(call.query, 'PatchOptions', anonymous ? [error] : []);
}

async function applyNew(call: Call, request: Request): Promise<HttpResponse> {
  const object = result(call, request, undefined);
  const { uid } = object.metadata;
  if (uid) {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw conflict(call.resource, call.name!, why);
  }
  delete object.metadata.resourceVersion;
  const outcome = await createObject(call, object, { ...request.options, tracked: true });
  if (outcome.kind === 'dryRun') return objectResponse(call, 201, outcome.object);
  return storedResponse(call, 201, outcome.stored);
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

/** The body must say exactly what it is. */
function checkKind(call: Call, config: JsonObject): void {
  const { resource } = call;
  const kind = typeof config['kind'] === 'string' ? config['kind'] : '';
  const apiVersion = typeof config['apiVersion'] === 'string' ? config['apiVersion'] : '';
  if (kind === resource.kind && apiVersion === apiVersionOf(resource)) return;
  const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' };
  throw badRequest(`invalid object type: ${group}/${version}, Kind=${kind}`);
}

/** The object as it is to be stored. */
function result(call: Call, { config, options, force }: Request, old: KubeObject | undefined): KubeObject {
  const write = {
    ...writeOf(call, options.fieldManager),
    ...(old === undefined ? {} : { live: asJson(old) }),
  };
  try {
    const value = applyObject(endpointOf(call), { ...write, config, force });
    const { codec } = call.resource;
    const object = codec.complete?.(value) ?? (codec.convert?.(value) ?? codec.decode(value)).object;
    matchNamespace(call, object);
    matchName(call, object);
    return object;
  } catch (cause) {
    throw refusal(call, config, cause);
  }
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

/** An error that the real server did not expect to see: 500 without a reason. */
const failure = (message: string): ApiError => new ApiError(500, undefined, message);

function describe(call: Call, config: JsonObject): string {
  const { name = '', namespace = '' } = metadataOf(config);
  const { group, version, kind } = call.resource;
  return `${String(namespace)}/${String(name)}; ${group}/${version}, Kind=${kind}`;
}

const unconvertible = ({ resource: { group, version, kind } }: Call): string =>
  `unable to convert unstructured object to ${group}/${version}, Kind=${kind}`;

function conflictError({ conflicts }: ApplyConflict): ApiError {
  const named = conflicts.map(({ manager, paths }) => ({ who: describeManager(manager), paths }));
  const causes = named.flatMap(({ who, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${who}`, field })),
  );
  return new ApiError(409, 'Conflict', conflictMessage(named, causes.length), { causes });
}

function conflictMessage(named: readonly { who: string; paths: readonly string[] }[], count: number): string {
  if (count === 1)
    return `Apply failed with 1 conflict: conflict with ${named[0]!.who}: ${named[0]!.paths[0]}`;
  const groups = [...named]
    .sort((a, b) => (a.who < b.who ? -1 : 1))
    .map(({ who, paths }) => [`conflicts with ${who}:`, ...paths.map((path) => `- ${path}`)].join('\n'));
  return `Apply failed with ${count} conflicts: ${groups.join('\n')}`;
}

function describeManager({ manager, operation, apiVersion, subresource }: Manager): string {
  const named = JSON.stringify(manager) + (subresource === '' ? '' : ` with subresource "${subresource}"`);
  return operation === 'Update' ? `${named} using ${apiVersion}` : named;
}
