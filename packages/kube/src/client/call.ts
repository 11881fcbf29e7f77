// One API call: builds the request headers and returns a decoded body or an ApiError.

import type { Millis } from '@lapse/base/instant';
import { isObject, type JsonObject } from '#api/json';
import { describeKind, type Kind } from '#api/kind';
import { apiVersionOf, asObject, type KubeObject } from '#api/object';
import type { Shape } from '#api/shape';
import { ApiError } from '#api/status';
import { encodeBytes, parseBytes, textOf } from './codec.ts';
import { apiErrorFrom, isUnserved } from './errors.ts';
import { queryText } from './paths.ts';
import { PROTOBUF_TYPE } from './protobuf/envelope.ts';
import {
  type HeaderMap,
  headerOf,
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
} from './transport.ts';

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Timeout of one attempt. Default: that of the client. */
  readonly timeout?: Millis;
}

/** Only the options of a call, without those of the verb. */
export const callOptions = ({ signal, timeout }: CallOptions): CallOptions => ({
  ...(signal === undefined ? {} : { signal }),
  ...(timeout === undefined ? {} : { timeout }),
});

export interface Call extends CallOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly accept?: string;
  readonly contentType?: string;
  /** A JSON value. */
  readonly body?: unknown;
}

export interface Caller {
  readonly transport: Transport;
  readonly userAgent: string;
  /** Recorded as the manager of the fields in writes. */
  readonly fieldManager: string;
  readonly onWarning?: (warning: string) => void;
  /** Called when the server does not serve the requested kind. */
  readonly onUnserved?: () => void;
}

export interface ApiResponse {
  readonly status: number;
  readonly json: JsonObject;
}

const JSON_TYPE = 'application/json';
const METADATA = 'PartialObjectMetadata;g=meta.k8s.io;v=v1';
const MAX_QUOTED = 200;

/** The Accept header for a kind's representation. With a shape, protobuf is preferred and JSON accepted. */
export function acceptFor(kind: Kind, many = false, shape?: Shape): string {
  if (kind.representation !== 'metadata')
    return shape === undefined ? JSON_TYPE : `${PROTOBUF_TYPE},${JSON_TYPE}`;
  return `${JSON_TYPE};as=${many ? METADATA.replace(';', 'List;') : METADATA}`;
}

export function toRequest(caller: Caller, call: Call): TransportRequest {
  const headers: Record<string, string> = {
    accept: call.accept ?? JSON_TYPE,
    'user-agent': caller.userAgent,
  };
  if (call.body !== undefined) headers['content-type'] = call.contentType ?? JSON_TYPE;
  return {
    method: call.method,
    path: call.path + queryText(call.query ?? {}),
    headers,
    ...(call.body === undefined ? {} : { body: encodeBytes(call.body) }),
    ...callOptions(call),
  };
}

/** Decodes the body of a response. */
export type Decode = (body: Uint8Array) => JsonObject;

/**
 * Sends and decodes. Throws ApiError for an error response, and TransportError if there is no usable response.
 * `protobuf` decodes protobuf responses; without it the request does not accept protobuf.
 */
export async function send(caller: Caller, call: Call, protobuf?: Decode): Promise<ApiResponse> {
  const response = await caller.transport.request(toRequest(caller, call));
  if (response.status < 200 || response.status > 299) throw errorFrom(caller, response);
  reportWarnings(caller, response.headers.warning);
  const decode = protobuf !== undefined && isProtobuf(response.headers) ? protobuf : decodeJson;
  return { status: response.status, json: decodeObject(call, response, decode) };
}

/**
 * The ApiError of an error response. Calls `onUnserved` if the kind is not served, so that discovery can be refreshed.
 */
export function errorFrom(caller: Caller, response: TransportResponse): ApiError {
  const error = apiErrorFrom(response);
  if (isUnserved(error)) caller.onUnserved?.();
  return error;
}

export const isProtobuf = (headers: HeaderMap): boolean =>
  headerOf(headers, 'content-type')?.startsWith(PROTOBUF_TYPE) === true;

function decodeJson(body: Uint8Array): JsonObject {
  const json = parseBytes(body);
  if (isObject(json)) return json;
  throw new SyntaxError('not an object');
}

/** Like `send`, but returns error responses as values. */
export async function trySend(
  caller: Caller,
  call: Call,
  protobuf?: Decode,
): Promise<ApiResponse | ApiError> {
  try {
    return await send(caller, call, protobuf);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

function decodeObject(call: Call, { body, headers }: TransportResponse, decode: Decode): JsonObject {
  try {
    return decode(body);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const type = headerOf(headers, 'content-type') ?? 'no content type';
    // Binary data is not readable in an error message.
    const quoted = decode === decodeJson ? `: ${textOf(body.subarray(0, MAX_QUOTED))}` : '';
    const form = decode === decodeJson ? 'JSON' : 'protobuf';
    const message = `${call.method} ${call.path}: the response (${type}) is not valid ${form}: ${problem}${quoted}`;
    throw new TransportError('malformed', message, { sent: true });
  }
}

// `299 - "text"`: code, agent, quoted text, and possibly a date. Several may share one line.
const WARNING = /\b299 \S+ "((?:[^"\\]|\\.)*)"/g;

function reportWarnings(caller: Caller, header: string | readonly string[] | undefined): void {
  if (caller.onWarning === undefined || header === undefined) return;
  for (const line of typeof header === 'string' ? [header] : header)
    for (const found of line.matchAll(WARNING)) caller.onWarning(found[1]!.replace(/\\(.)/g, '$1'));
}

/**
 * Decodes a response that must be one object. Items of built-in lists have no kind and apiVersion; they get those of
 * `kind`.
 */
export function readObject<T extends KubeObject>(kind: Kind<T>, json: unknown, where: string): T {
  if (!isObject(json) || !isObject(json.metadata)) {
    const message = `${where}: expected a ${describeKind(kind)}, got ${JSON.stringify(json)?.slice(0, MAX_QUOTED)}`;
    throw new TransportError('malformed', message, { sent: true });
  }
  json.apiVersion ??= apiVersionOf(kind);
  json.kind ??= kind.kind;
  return asObject(json) as T;
}
