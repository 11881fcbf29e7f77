// AdmissionReview v1: creates the request for a webhook and parses its response.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { asJson, type GroupVersionKind, parseApiVersion } from '@lapse/kube/api/object';
import type { StatusDetails } from '@lapse/kube/api/status';
import { userJson } from '../../access/userJson.ts';
import { type Call, isOfCollection, namespaceOf } from '../../context.ts';
import type { DeleteOptions } from '../../http/query.ts';
import type { Resource } from '../../resources/resource.ts';
import type { Write } from '../write.ts';

export interface WebhookResponse {
  readonly allowed: boolean;
  readonly message: string | undefined;
  readonly code: number | undefined;
  readonly reason: string | undefined;
  readonly details: StatusDetails | undefined;
  readonly warnings: readonly string[];
  /** A JSON patch as text. */
  readonly patch: Uint8Array | undefined;
}

const OPTIONS = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const;

/** `as`: the resource whose version the webhook sees. */
export function requestOf(
  call: Call,
  write: Write,
  { uid, as }: { readonly uid: string; readonly as: Resource },
): JsonObject {
  const { user, subresource } = call;
  const namespace = namespaceOf(call, write.name);
  return {
    uid,
    kind: kindOf(write.kind ?? as),
    resource: resourceOf(as),
    ...(subresource ? { subResource: subresource } : {}),
    requestKind: kindOf(write.kind ?? call.resource),
    requestResource: resourceOf(call.resource),
    ...(subresource ? { requestSubResource: subresource } : {}),
    ...(write.name === '' || isOfCollection(call, write) ? {} : { name: write.name }),
    ...(namespace === '' ? {} : { namespace }),
    operation: write.operation,
    userInfo: userJson(user),
    object: write.object === undefined ? null : asJson(write.object),
    oldObject: write.old === undefined ? null : asJson(write.old),
    dryRun: write.dryRun,
    options: {
      kind: OPTIONS[write.operation],
      apiVersion: 'meta.k8s.io/v1',
      ...(write.deletion === undefined ? writeOptions(call) : deleteOptions(write.deletion)),
      ...(write.dryRun ? { dryRun: ['All'] } : {}),
    },
  };
}

const kindOf = ({ group, version, kind }: GroupVersionKind): JsonObject => ({ group, version, kind });
const resourceOf = ({ group, version, plural }: Resource): JsonObject => ({
  group,
  version,
  resource: plural,
});

/** The options as sent, without defaults. */
function writeOptions({ query }: Call): JsonObject {
  const [fieldManager, fieldValidation] = [query.get('fieldManager'), query.get('fieldValidation')];
  return { ...(fieldManager ? { fieldManager } : {}), ...(fieldValidation ? { fieldValidation } : {}) };
}

function deleteOptions(options: DeleteOptions): JsonObject {
  const { gracePeriodSeconds, uid, resourceVersion, orphanDependents, propagationPolicy } = options;
  const preconditions = { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) };
  return {
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
    ...(orphanDependents === undefined ? {} : { orphanDependents }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
  };
}

export const reviewOf = (request: JsonObject): JsonObject => ({
  kind: 'AdmissionReview',
  apiVersion: 'admission.k8s.io/v1',
  request,
});

const textOf = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Throws when the response is invalid. */
export function parseResponse(review: Json, uid: string, mayPatch: boolean): WebhookResponse {
  const response = checkedResponse(review, uid);
  const { allowed, status, warnings } = response;
  const refusal = isObject(status) ? status : {};
  return {
    allowed: allowed === true,
    message: textOf(refusal['message']),
    code: typeof refusal['code'] === 'number' ? refusal['code'] : undefined,
    reason: textOf(refusal['reason']),
    details: isObject(refusal['details']) ? (refusal['details'] as StatusDetails) : undefined,
    warnings: Array.isArray(warnings) ? warnings.filter((warning) => typeof warning === 'string') : [],
    patch: mayPatch ? patchOf(response) : noPatch(response),
  };
}

const invalidResponse = (why: string): Error => new Error(`received invalid webhook response: ${why}`);

/** A patch needs a patchType, and a patchType needs a patch. */
function patchOf({ patch, patchType }: JsonObject): Uint8Array | undefined {
  const given = textOf(patch);
  if (patchType === undefined || patchType === null) {
    if (given === undefined) return undefined;
    throw invalidResponse('webhook returned response.patch but not response.patchType');
  }
  if (given === undefined)
    throw invalidResponse('webhook returned response.patchType but not response.patch');
  if (patchType === '') throw invalidResponse('webhook returned invalid response.patchType of ""');
  if (patchType !== 'JSONPatch') throw new Error(`unsupported patch type ${JSON.stringify(patchType)}`);
  return Buffer.from(given, 'base64');
}

function noPatch({ patch, patchType }: JsonObject): undefined {
  if (textOf(patch) !== undefined) throw invalidResponse('validating webhook may not return response.patch');
  if (patchType !== undefined && patchType !== null)
    throw invalidResponse('validating webhook may not return response.patchType');
}

function checkedResponse(review: Json, uid: string): JsonObject {
  if (!isObject(review)) throw invalidResponse('not an object');
  const { kind = '', apiVersion = '', response } = review;
  if (!isObject(response)) throw invalidResponse('webhook response was absent');
  const got = textOf(response['uid']) ?? '';
  if (got !== uid)
    throw invalidResponse(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(got)}`);
  if (kind !== 'AdmissionReview' || apiVersion !== 'admission.k8s.io/v1') {
    const { group, version } = parseApiVersion(String(apiVersion)) ?? { group: '', version: '' };
    throw invalidResponse(
      `expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${group}/${version}, Kind=${String(kind)}`,
    );
  }
  return response;
}
