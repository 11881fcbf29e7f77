// Admission functions and the AdmissionReview v1 encoding. The same function serves a real API server through the webhook
// host and the embedded API server in process.

import type { AdmissionRequest, AdmissionResponse } from '@lapse/kube/api/admission';
import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import { buildJsonPatch } from './jsonPatch.ts';

export type { AdmissionFunction, AdmissionRequest, AdmissionResponse } from '@lapse/kube/api/admission';

/** The body is not a valid AdmissionReview. */
export class ReviewError extends Error {}

/** Maximum number of JSON values in a review. Real reviews have thousands; each value costs memory beyond its bytes. */
const MAX_VALUES = 400_000;
const [COMMA, BRACKET, BRACE] = [0x2c, 0x5b, 0x7b];

/** Throws if the parsed body would need much more memory than its size. Also counts characters inside strings. */
export function requireFewValues(body: Uint8Array): void {
  let values = 0;
  // A loop by index is a hundred times faster than an iterator.
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (byte === COMMA || byte === BRACKET || byte === BRACE) values++;
  }
  if (values > MAX_VALUES) throw new ReviewError(`the review has more than ${MAX_VALUES} values`);
}

const OPERATIONS = new Set(['CREATE', 'UPDATE', 'DELETE']);

/** Extracts the request of an AdmissionReview. Validates all fields, because they contain user input. */
export function parseReview(review: Json): AdmissionRequest {
  if (!isObject(review) || review.kind !== 'AdmissionReview') throw new ReviewError('not an AdmissionReview');
  if (review.apiVersion !== 'admission.k8s.io/v1')
    throw new ReviewError(
      `apiVersion ${String(review.apiVersion)} is not supported; use admission.k8s.io/v1`,
    );
  const { request } = review;
  if (!isObject(request)) throw new ReviewError('the review has no request');
  const { uid, name, namespace, operation, subResource, options } = request;
  if (typeof uid !== 'string' || uid === '') throw new ReviewError('request.uid is missing');
  if (typeof operation !== 'string' || !OPERATIONS.has(operation))
    throw new ReviewError(`request.operation ${JSON.stringify(operation)} is not handled`);
  return {
    uid,
    operation: operation as AdmissionRequest['operation'],
    kind: triple(request.kind, 'kind'),
    resource: triple(request.resource, 'resource'),
    name: typeof name === 'string' ? name : '',
    ...(typeof namespace === 'string' && namespace !== '' ? { namespace } : {}),
    ...(typeof subResource === 'string' && subResource !== '' ? { subResource } : {}),
    userInfo: userOf(request.userInfo),
    object: objectOrNull(request.object, 'object'),
    oldObject: objectOrNull(request.oldObject, 'oldObject'),
    dryRun: request.dryRun === true,
    ...(isObject(options) ? { options } : {}),
  };
}

function triple<K extends string>(
  json: Json | undefined,
  last: K,
): { group: string; version: string } & Record<K, string> {
  const from = isObject(json) ? json : {};
  const word = (name: string) => (typeof from[name] === 'string' ? from[name] : '');
  if (word('version') === '' || word(last) === '') throw new ReviewError(`request.${last} is incomplete`);
  return { group: word('group'), version: word('version'), [last]: word(last) } as ReturnType<
    typeof triple<K>
  >;
}

function userOf(json: Json | undefined): AdmissionRequest['userInfo'] {
  if (!isObject(json) || typeof json.username !== 'string')
    throw new ReviewError('request.userInfo is incomplete');
  return json as unknown as AdmissionRequest['userInfo'];
}

function objectOrNull(json: Json | undefined, name: string): KubeObject | null {
  if (json === undefined || json === null) return null;
  if (!isObject(json) || !isObject(json.metadata)) throw new ReviewError(`request.${name} is not an object`);
  return json as unknown as KubeObject;
}

/** Builds the AdmissionReview response to a request. */
export function buildReview(request: AdmissionRequest, answer: AdmissionResponse): JsonObject {
  const warnings =
    answer.warnings === undefined || answer.warnings.length === 0 ? {} : { warnings: [...answer.warnings] };
  const response = answer.allowed
    ? { uid: request.uid, allowed: true, ...warnings, ...patchOf(request, answer.object) }
    : { uid: request.uid, allowed: false, ...warnings, status: statusOf(answer) };
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    response: response as unknown as JsonObject,
  };
}

function patchOf({ object }: AdmissionRequest, next: KubeObject | undefined): object {
  if (next === undefined || object === null) return {};
  const operations = buildJsonPatch(asJson(object), asJson(next));
  if (operations.length === 0) return {};
  return { patchType: 'JSONPatch', patch: Buffer.from(writeJson(operations)).toString('base64') };
}

function statusOf(answer: Extract<AdmissionResponse, { allowed: false }>): object {
  const { message, code = 403, reason = 'Forbidden', details } = answer;
  return { status: 'Failure', message, reason, code, ...(details === undefined ? {} : { details }) };
}
