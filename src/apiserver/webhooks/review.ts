// AdmissionReview v1: the question as a webhook gets it, and what its answer may say.

import { isObject, type Json, type JsonObject } from '#api/json';
import { asJson } from '#api/object';
import type { StatusDetails } from '#api/status';
import { userJson } from '../access/userJson.ts';
import type { Write } from '../admission.ts';
import type { Call } from '../context.ts';

export interface Answer {
  readonly allowed: boolean;
  readonly message: string | undefined;
  readonly code: number | undefined;
  readonly reason: string | undefined;
  readonly details: StatusDetails | undefined;
  readonly warnings: readonly string[];
  /** The text of a JSON patch. */
  readonly patch: Uint8Array | undefined;
}

/** The webhook answered something that is no answer. */
export class AnswerError extends Error {}

const OPTIONS = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const;

export function requestOf(call: Call, write: Write, uid: string): JsonObject {
  const { group, version, kind, plural } = call.resource;
  const { user, namespace, subresource } = call;
  const isCollection = write.operation === 'DELETE' && call.name === undefined;
  const target = {
    kind: { group, version, kind },
    resource: { group, version, resource: plural },
    ...(subresource ? { subResource: subresource } : {}),
    requestKind: { group, version, kind },
    requestResource: { group, version, resource: plural },
    ...(subresource ? { requestSubResource: subresource } : {}),
  };
  return {
    uid,
    ...target,
    // Of a whole collection no object is named.
    ...(write.name === '' || isCollection ? {} : { name: write.name }),
    ...(namespace ? { namespace } : {}),
    operation: write.operation,
    userInfo: userJson(user),
    object: write.object === undefined ? null : asJson(write.object),
    oldObject: write.old === undefined ? null : asJson(write.old),
    dryRun: write.dryRun,
    options: {
      kind: OPTIONS[write.operation],
      apiVersion: 'meta.k8s.io/v1',
      ...(write.dryRun ? { dryRun: ['All'] } : {}),
    },
  };
}

export const reviewOf = (request: JsonObject): JsonObject => ({
  kind: 'AdmissionReview',
  apiVersion: 'admission.k8s.io/v1',
  request,
});

const textOf = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export function parseAnswer(review: Json, uid: string, mayPatch: boolean): Answer {
  const response = checkedResponse(review, uid);
  const { allowed, status, warnings, patch, patchType } = response;
  const refusal = isObject(status) ? status : {};
  const patchText = textOf(patch);
  if (patchText !== undefined && !mayPatch)
    throw new AnswerError(
      'received invalid webhook response: validating webhook may not return response.patch',
    );
  if (patchText !== undefined && patchType !== 'JSONPatch')
    throw new AnswerError(
      'received invalid webhook response: webhook returned response.patch but not response.patchType',
    );
  return {
    allowed: allowed === true,
    message: textOf(refusal['message']),
    code: typeof refusal['code'] === 'number' ? refusal['code'] : undefined,
    reason: textOf(refusal['reason']),
    details: isObject(refusal['details']) ? (refusal['details'] as StatusDetails) : undefined,
    warnings: Array.isArray(warnings) ? warnings.filter((warning) => typeof warning === 'string') : [],
    patch: patchText === undefined ? undefined : Buffer.from(patchText, 'base64'),
  };
}

function checkedResponse(review: Json, uid: string): JsonObject {
  if (!isObject(review)) throw new AnswerError('received invalid webhook response: not an object');
  const { kind = '', apiVersion = '', response } = review;
  if (kind !== 'AdmissionReview' || apiVersion !== 'admission.k8s.io/v1')
    throw new AnswerError(
      `received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${String(apiVersion)}, Kind=${String(kind)}`,
    );
  if (!isObject(response)) throw new AnswerError('webhook response was absent');
  const got = textOf(response['uid']) ?? '';
  if (got !== uid)
    throw new AnswerError(
      `received invalid webhook response: expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(got)}`,
    );
  return response;
}
