// Refusals: from an answer's bytes to an ApiError, and the questions asked about one. A server, a proxy in front of it
// or something else entirely may have answered, so nothing about the body is taken for granted.

import { isObject, type Json, type JsonObject } from '#api/json';
import { ApiError, type StatusCause, type StatusDetails } from '#api/status';
import { asBuffer, parseBytes, textOf } from './codec.ts';
import { decodeStatus, PROTOBUF_TYPE } from './protobuf/envelope.ts';
import { headerOf, type TransportResponse } from './transport.ts';

/** What a bare code means, where no Status says more. */
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

/** An ApiError from a decoded Status; `httpCode` wins over the code in the body. */
export function apiErrorFromStatus(status: JsonObject, httpCode?: number): ApiError {
  const code = httpCode ?? (typeof status.code === 'number' ? status.code : 500);
  const reason = textField(status, 'reason') ?? '';
  const message = textField(status, 'message') ?? '';
  const known = reason === '' ? REASONS[code] : reason;
  return new ApiError(
    code,
    known,
    message === '' ? `the server answered ${code}` : message,
    readDetails(status.details),
  );
}

/** The Status in an answer, if there is one. */
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

/** Seconds of a Retry-After header in its numeric form. */
function retryAfterSeconds(response: TransportResponse): number | undefined {
  const text = headerOf(response.headers, 'retry-after');
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** The refusal in an answer whose code is not 2xx. */
export function apiErrorFrom(response: TransportResponse): ApiError {
  const error = refusalOf(response);
  const after = retryAfterSeconds(response);
  if (after === undefined || error.status.details?.retryAfterSeconds !== undefined) return error;
  return new ApiError(error.code, error.status.reason, error.message, {
    ...error.status.details,
    retryAfterSeconds: after,
  });
}

function refusalOf(response: TransportResponse): ApiError {
  const status = tryStatus(response);
  if (status !== undefined) return apiErrorFromStatus(status, response.status);
  const quoted = quoteBody(response.body);
  const type = headerOf(response.headers, 'content-type') ?? 'no content type';
  const message = `the server answered ${response.status}${quoted === '' ? '' : ` (${type}): ${quoted}`}`;
  // The cause tells "somebody answered 404" from "the API server says that this object does not exist".
  const causes = [{ reason: 'UnexpectedServerResponse', message: quoted }];
  return new ApiError(response.status, REASONS[response.status], message, { causes });
}

/** The object itself is missing, as opposed to its kind, its path or the whole API. */
export const isMissing = (error: ApiError, name: string): boolean =>
  error.code === 404 && error.reason === 'NotFound' && error.status.details?.name === name;

/** There is no such kind, version or path: a 404 that names nothing. */
export const isUnserved = (error: ApiError): boolean => error.code === 404 && !error.status.details?.name;

/** History or a continue token is older than the server remembers: start over with a list. */
export const isExpired = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 410 || error.reason === 'Expired' || error.reason === 'Gone');

export const isAlreadyExists = (error: ApiError): boolean =>
  error.code === 409 && error.reason === 'AlreadyExists';

export const isInvalid = (error: ApiError): boolean => error.code === 422;

/**
 * Who is behind a 409:
 * - `changed`: the object is not the one (uid) or not the version that the request named
 * - `manager`: server-side apply would take fields from another manager
 * - `admission`: a webhook refused and chose this code; trying again with a fresh version will not help
 * - `other`: anything else, such as a quota being updated at the same time
 */
export type ConflictCause = 'changed' | 'manager' | 'admission' | 'other';

export function conflictCause(error: ApiError): ConflictCause {
  if (error.message.startsWith('admission webhook ')) return 'admission';
  const details = error.status.details;
  if (details?.causes?.some((cause) => cause.reason === 'FieldManagerConflict')) return 'manager';
  return error.reason === 'Conflict' && details?.name !== undefined ? 'changed' : 'other';
}
