// DELETE. Options are sent in the body, never in the query: a server that ignores unknown query parameters would delete
// without checking the preconditions.

import { isObject, type JsonObject } from '#api/json';
import type { Kind, ObjectKey } from '#api/kind';
import type { KubeObject } from '#api/object';
import { ApiError } from '#api/status';
import {
  type ApiResponse,
  type Caller,
  type CallOptions,
  callOptions,
  readObject,
  send,
  trySend,
} from './call.ts';
import { type ConflictCause, conflictCause, isMissing } from './errors.ts';
import { collectionPath, objectPath } from './paths.ts';
import type { List, SelectOptions } from './read.ts';
import { TransportError } from './transport.ts';

export type Propagation = 'Background' | 'Foreground' | 'Orphan';

interface DeletionOptions {
  readonly propagation?: Propagation;
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

export interface DeleteOptions extends CallOptions, DeletionOptions {
  /** Delete only if the object has this UID, not another object of the same name. */
  readonly ifUid?: string;
  /** Delete only if the object still has this resourceVersion. */
  readonly ifVersion?: string;
}

export interface DeleteCollectionOptions extends SelectOptions, DeletionOptions {}

/**
 * - `deleted`: this request removed the object
 * - `terminating`: accepted; finalizers, foreground deletion or a grace period still keep the object
 * - `gone`: the object did not exist
 * - `conflict`: rejected; `changed`: a precondition failed, `admission`: a webhook denied the request
 */
export type DeleteResult<T extends KubeObject> =
  | { readonly kind: 'deleted'; readonly uid?: string }
  | { readonly kind: 'terminating'; readonly uid?: string; readonly object?: T }
  | { readonly kind: 'gone' }
  | { readonly kind: 'conflict'; readonly by: ConflictCause; readonly error: ApiError };

function optionsBody(options: DeleteOptions): object {
  const { ifUid, ifVersion, propagation, gracePeriodSeconds, dryRun } = options;
  const preconditions =
    ifUid === undefined && ifVersion === undefined ? undefined : { uid: ifUid, resourceVersion: ifVersion };
  return {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    preconditions,
    propagationPolicy: propagation,
    gracePeriodSeconds,
    dryRun: dryRun === true ? ['All'] : undefined,
  };
}

const isFilled = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

/** Some kinds return the object even if it is already removed. This checks whether anything still keeps it. */
function isHeld(object: JsonObject): boolean {
  const metadata = object.metadata as JsonObject;
  if (metadata.deletionTimestamp === undefined) return false;
  const grace = metadata.deletionGracePeriodSeconds;
  const inSpec = isObject(object.spec) && isFilled(object.spec.finalizers);
  return isFilled(metadata.finalizers) || inSpec || (typeof grace === 'number' && grace > 0);
}

const uidFrom = (from: unknown): { uid?: string } =>
  isObject(from) && typeof from.uid === 'string' ? { uid: from.uid } : {};

function readDeletion<T extends KubeObject>(kind: Kind<T>, { status, json }: ApiResponse): DeleteResult<T> {
  if (json.kind === 'Status') {
    if (json.status !== 'Success')
      throw new TransportError('malformed', `DELETE returned status ${status} with a failure Status`, {
        sent: true,
      });
    const uid = uidFrom(json.details);
    return status === 202 ? { kind: 'terminating', ...uid } : { kind: 'deleted', ...uid };
  }
  const object = readObject(kind, json, 'DELETE');
  const uid = uidFrom(json.metadata);
  return isHeld(json) ? { kind: 'terminating', ...uid, object } : { kind: 'deleted', ...uid };
}

/** Throws if the kind is not served (also a 404), on 403 and on all other errors. */
export async function deleteObject<T extends KubeObject>(
  caller: Caller,
  kind: Kind<T>,
  key: ObjectKey,
  options: DeleteOptions = {},
): Promise<DeleteResult<T>> {
  const response = await trySend(caller, {
    method: 'DELETE',
    path: objectPath(kind, key),
    body: optionsBody(options),
    ...callOptions(options),
  });
  if (!(response instanceof ApiError)) return readDeletion(kind, response);
  if (isMissing(response, key.name)) return { kind: 'gone' };
  if (response.code === 409) return { kind: 'conflict', by: conflictCause(response), error: response };
  throw response;
}

/** Deletes all matching objects. Returns their state before the deletion. */
export async function deleteCollection<T extends KubeObject>(
  caller: Caller,
  kind: Kind<T>,
  options: DeleteCollectionOptions,
): Promise<List<T>> {
  const { namespace, labelSelector, fieldSelector, ...deletion } = options;
  const path = collectionPath(kind, namespace);
  const { json } = await send(caller, {
    method: 'DELETE',
    path,
    query: { labelSelector, fieldSelector },
    body: optionsBody(deletion),
    ...callOptions(options),
  });
  const items = Array.isArray(json.items) ? json.items : [];
  const version = isObject(json.metadata) ? json.metadata.resourceVersion : undefined;
  return {
    items: items.map((item) => readObject(kind, item, path)),
    resourceVersion: typeof version === 'string' ? version : '',
  };
}
