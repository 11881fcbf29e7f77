// CREATE, UPDATE, PATCH and APPLY. Outcomes that a caller is expected to handle are values; all others are thrown.

import { isObject, type JsonObject } from '#api/json';
import { type Kind, keyOf, type ObjectKey } from '#api/kind';
import { apiVersionOf, type KubeObject } from '#api/object';
import { ApiError } from '#api/status';
import {
  type ApiResponse,
  acceptFor,
  type Call,
  type Caller,
  type CallOptions,
  callOptions,
  readObject,
  trySend,
} from './call.ts';
import { type ConflictCause, conflictCause, isAlreadyExists, isInvalid, isMissing } from './errors.ts';
import { creationPath, objectPath } from './paths.ts';

export interface WriteOptions extends CallOptions {
  /** Validate and respond as usual, but store nothing. */
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
  /** `status`, `scale`, `token`, … */
  readonly subresource?: string;
}

export interface PatchOptions extends WriteOptions {
  /** Write only if the object still has this resourceVersion. */
  readonly ifVersion?: string;
  /** Write only if the object has this UID, not another object of the same name. */
  readonly ifUid?: string;
}

export interface ApplyOptions extends WriteOptions {
  /** Take fields over from other managers. */
  readonly force?: boolean;
}

export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

export type Patch =
  | { readonly type: 'json'; readonly operations: readonly JsonPatchOperation[] }
  | { readonly type: 'merge'; readonly patch: object }
  | { readonly type: 'strategic'; readonly patch: object };

export interface Invalid {
  readonly kind: 'invalid';
  readonly error: ApiError;
}
export interface Conflict {
  readonly kind: 'conflict';
  readonly by: ConflictCause;
  readonly error: ApiError;
}
export interface Missing {
  readonly kind: 'missing';
  readonly error: ApiError;
}

export type CreateResult<T extends KubeObject> =
  | { readonly kind: 'created'; readonly object: T }
  | { readonly kind: 'exists'; readonly error: ApiError }
  | Invalid;
export type UpdateResult<T extends KubeObject> =
  | { readonly kind: 'updated'; readonly object: T }
  | Conflict
  | Missing
  | Invalid;
export type PatchResult<T extends KubeObject> =
  | { readonly kind: 'patched'; readonly object: T }
  | Conflict
  | Missing
  | Invalid;
export type ApplyResult<T extends KubeObject> =
  | { readonly kind: 'applied'; readonly object: T; readonly created: boolean }
  | Conflict
  | Missing
  | Invalid;

const CONTENT_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

interface Write extends Pick<Call, 'method' | 'path' | 'contentType' | 'body'> {
  readonly options: ApplyOptions;
}

function sendWrite(caller: Caller, kind: Kind, { options, ...call }: Write): Promise<ApiResponse | ApiError> {
  return trySend(caller, {
    ...call,
    accept: acceptFor(kind),
    query: {
      dryRun: options.dryRun === true ? 'All' : undefined,
      fieldManager: options.fieldManager ?? caller.fieldManager,
      fieldValidation: options.fieldValidation,
      force: options.force === true ? true : undefined,
    },
    ...callOptions(options),
  });
}

const withType = (kind: Kind, object: KubeObject): object => ({
  ...object,
  apiVersion: object.apiVersion ?? apiVersionOf(kind),
  kind: object.kind ?? kind.kind,
});

/** Returns the error of a write to an existing object as a value, or throws it. */
function expectedError(error: ApiError, name: string): Conflict | Missing | Invalid {
  if (isMissing(error, name)) return { kind: 'missing', error };
  if (error.code === 409) return { kind: 'conflict', by: conflictCause(error), error };
  // The server rejects a patch with another UID as an attempt to change it.
  if (isInvalid(error) && error.status.details?.causes?.some((cause) => cause.field === 'metadata.uid'))
    return { kind: 'conflict', by: 'changed', error };
  if (isInvalid(error)) return { kind: 'invalid', error };
  throw error;
}

/** With `subresource`, the POST is sent to that subresource of the named object (`token`, `eviction`). */
export async function create<T extends KubeObject>(
  caller: Caller,
  kind: Kind<T>,
  object: T,
  options: WriteOptions = {},
): Promise<CreateResult<T>> {
  const { subresource } = options;
  const path =
    subresource === undefined
      ? creationPath(kind, object.metadata.namespace)
      : objectPath(kind, keyOf(object), subresource);
  const response = await sendWrite(caller, kind, {
    method: 'POST',
    path,
    body: withType(kind, object),
    options,
  });
  if (!(response instanceof ApiError))
    return { kind: 'created', object: readObject(kind, response.json, path) };
  if (isAlreadyExists(response)) return { kind: 'exists', error: response };
  if (isInvalid(response)) return { kind: 'invalid', error: response };
  throw response;
}

/** Replaces the object. It must carry the resourceVersion it was read with, except for an unconditional overwrite. */
export async function update<T extends KubeObject>(
  caller: Caller,
  kind: Kind<T>,
  object: T,
  options: WriteOptions = {},
): Promise<UpdateResult<T>> {
  const key = keyOf(object);
  const path = objectPath(kind, key, options.subresource);
  const response = await sendWrite(caller, kind, {
    method: 'PUT',
    path,
    body: withType(kind, object),
    options,
  });
  if (response instanceof ApiError) return expectedError(response, key.name);
  return { kind: 'updated', object: readObject(kind, response.json, path) };
}

/** Preconditions are part of the patch: the server compares them with the object it is about to write. */
function patchBody(patch: Patch, options: PatchOptions): unknown {
  const { ifVersion, ifUid } = options;
  if (patch.type === 'json') {
    const operations: JsonPatchOperation[] = [];
    if (ifUid !== undefined) operations.push({ op: 'replace', path: '/metadata/uid', value: ifUid });
    if (ifVersion !== undefined)
      operations.push({ op: 'replace', path: '/metadata/resourceVersion', value: ifVersion });
    return operations.concat(patch.operations);
  }
  if (ifVersion === undefined && ifUid === undefined) return patch.patch;
  const body = patch.patch as JsonObject;
  const metadata: JsonObject = { ...(isObject(body.metadata) ? body.metadata : {}) };
  if (ifVersion !== undefined) metadata.resourceVersion = ifVersion;
  if (ifUid !== undefined) metadata.uid = ifUid;
  return { ...body, metadata };
}

export async function patch<T extends KubeObject>(
  caller: Caller,
  kind: Kind<T>,
  key: ObjectKey,
  { patch, ...options }: PatchOptions & { patch: Patch },
): Promise<PatchResult<T>> {
  const response = await sendWrite(caller, kind, {
    method: 'PATCH',
    path: objectPath(kind, key, options.subresource),
    contentType: CONTENT_TYPES[patch.type],
    body: patchBody(patch, options),
    options,
  });
  if (response instanceof ApiError) return expectedError(response, key.name);
  return { kind: 'patched', object: readObject(kind, response.json, 'PATCH') };
}

/** Server-side apply: sends the fields the caller owns. Creates the object if it does not exist. */
export async function apply<T extends KubeObject>(
  caller: Caller,
  kind: Kind<T>,
  object: KubeObject,
  options: ApplyOptions = {},
): Promise<ApplyResult<T>> {
  const key = keyOf(object);
  const response = await sendWrite(caller, kind, {
    method: 'PATCH',
    path: objectPath(kind, key, options.subresource),
    contentType: CONTENT_TYPES.apply,
    // YAML is the documented content type, and JSON is valid YAML.
    body: withType(kind, object),
    options,
  });
  if (response instanceof ApiError) return expectedError(response, key.name);
  return {
    kind: 'applied',
    object: readObject(kind, response.json, 'APPLY'),
    created: response.status === 201,
  };
}
