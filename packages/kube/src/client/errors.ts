// Builds an ApiError from an error response, and classifies ApiErrors. The response may come from the server, a proxy
// or any other program, so nothing about the body is assumed.

import { isObject, type Json, type JsonObject } from '#api/json';
import { ApiError, type StatusCause, type StatusDetails } from '#api/status';
import { asBuffer, parseBytes, textOf } from './codec.ts';
import { decodeStatus, PROTOBUF_TYPE } from './protobuf/envelope.ts';
import { headerOf, type TransportResponse } from './transport.ts';

/** The reason of an HTTP status code, for responses without a Status. */
const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

const MAX_QUOTED = 512;

const textField = (from: JsonObject, name: string): string | undefined =>
  typeof from[name] === 'string' ? from[name] : undefined;

function readCause(json: Json): StatusCause {
  if (!isObject(json)) return {};
  const cause: StatusCause = {};
  for (const name of ['reason', 'message', 'field'] as const) {
    const value = textField(json, name);
    if (value !== undefined) cause[name] = value;
  }
  return cause;
}

function readDetails(json: Json | undefined): StatusDetails | undefined {
  if (!isObject(json)) return undefined;
  const details: StatusDetails = {};
  for (const name of ['name', 'group', 'kind', 'uid'] as const) {
    const value = textField(json, name);
    if (value !== undefined) details[name] = value;
  }
  if (Array.isArray(json.causes)) details.causes = json.causes.map(readCause);
  if (typeof json.retryAfterSeconds === 'number') details.retryAfterSeconds = json.retryAfterSeconds;
  return details;
}

/** An ApiError from a decoded Status. `httpCode` overrides the code in the body. */
export function apiErrorFromStatus(status: JsonObject, httpCode?: number): ApiError {
  const code = httpCode ?? (typeof status.code === 'number' ? status.code : 500);
  const reason = textField(status, 'reason') ?? '';
  const message = textField(status, 'message') ?? '';
  const known = reason === '' ? REASONS[code] : reason;
  return new ApiError(
    code,
    known,
    message === '' ? `the server responded with status ${code}` : message,
    readDetails(status.details),
  );
}

/** The Status in a response, if it contains one. */
function tryStatus({ body, headers }: TransportResponse): JsonObject | undefined {
  try {
    if (headerOf(headers, 'content-type')?.startsWith(PROTOBUF_TYPE)) return decodeStatus(asBuffer(body));
    const json = parseBytes(body);
    return isObject(json) && json.kind === 'Status' ? json : undefined;
  } catch {
    return undefined;
  }
}

const quoteBody = (body: Uint8Array): string => textOf(body.subarray(0, MAX_QUOTED)).trim();

/** Seconds of a numeric Retry-After header. */
function retryAfterSeconds(response: TransportResponse): number | undefined {
  const text = headerOf(response.headers, 'retry-after');
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** The error of a response whose code is not 2xx. */
export function apiErrorFrom(response: TransportResponse): ApiError {
  const error = errorOf(response);
  const after = retryAfterSeconds(response);
  if (after === undefined || error.status.details?.retryAfterSeconds !== undefined) return error;
  return new ApiError(error.code, error.status.reason, error.message, {
    ...error.status.details,
    retryAfterSeconds: after,
  });
}

function errorOf(response: TransportResponse): ApiError {
  const status = tryStatus(response);
  if (status !== undefined) return apiErrorFromStatus(status, response.status);
  const quoted = quoteBody(response.body);
  const type = headerOf(response.headers, 'content-type') ?? 'no content type';
  const message = `the server responded with status ${response.status}${quoted === '' ? '' : ` (${type}): ${quoted}`}`;
  // This cause distinguishes a 404 of a proxy from the API server's statement that the object does not exist.
  const causes = [{ reason: 'UnexpectedServerResponse', message: quoted }];
  return new ApiError(response.status, REASONS[response.status], message, { causes });
}

/** The object itself does not exist, as opposed to its kind, its path or the whole API. */
export const isMissing = (error: ApiError, name: string): boolean =>
  error.code === 404 && error.reason === 'NotFound' && error.status.details?.name === name;

/** The kind, version or path does not exist: a 404 that names no object. */
export const isUnserved = (error: ApiError): boolean => error.code === 404 && !error.status.details?.name;

/** The requested history or continue token was compacted. The caller must list again. */
export const isExpired = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 410 || error.reason === 'Expired' || error.reason === 'Gone');

export const isAlreadyExists = (error: ApiError): boolean =>
  error.code === 409 && error.reason === 'AlreadyExists';

export const isInvalid = (error: ApiError): boolean => error.code === 422;

/**
 * The cause of a 409:
 * - `changed`: the object has another UID or resourceVersion than the request named
 * - `manager`: server-side apply would take fields from another manager
 * - `admission`: a webhook denied with this code; a retry with a fresh version does not help
 * - `other`: anything else, such as a concurrent quota update
 */
export type ConflictCause = 'changed' | 'manager' | 'admission' | 'other';

export function conflictCause(error: ApiError): ConflictCause {
  if (error.message.startsWith('admission webhook ')) return 'admission';
  const details = error.status.details;
  if (details?.causes?.some((cause) => cause.reason === 'FieldManagerConflict')) return 'manager';
  return error.reason === 'Conflict' && details?.name !== undefined ? 'changed' : 'other';
}
