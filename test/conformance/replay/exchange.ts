// One request and its answer: adds default headers, credentials and bodies, and decodes the answer.

import { gunzipSync } from 'node:zlib';
import { type Clock, realClock } from '@lapse/base/clock';
import { millis, plus } from '@lapse/base/instant';
import type { HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import type { Json } from '@lapse/kube/api/json';
import { fill, fillText } from './templates.ts';
import type { Identity, RequestAction, Target, Vars, WatchAction, WireResponse } from './types.ts';

const ANSWER_WITHIN_MS = 60_000;

export const pause = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.wakeAt(plus(clock.now(), millis(ms)), resolve);
  });

function tokenOf(target: Target, as: Identity = 'admin'): string | undefined {
  if (as === 'admin') return target.adminToken;
  if (as === 'nobody') return target.nobodyToken;
  return as === 'stranger' ? 'not-a-token-anyone-was-given' : undefined;
}

function bytesOf(action: RequestAction | WatchAction, vars: Vars): Buffer | undefined {
  if (action.rawBase64 !== undefined) return Buffer.from(action.rawBase64, 'base64');
  if (action.rawBody !== undefined) return Buffer.from(fillText(action.rawBody, vars));
  if (action.body !== undefined) return Buffer.from(JSON.stringify(fill(action.body, vars)));
  return undefined;
}

/** The request of a step. The User-Agent determines the default field manager, so it is fixed. */
export function buildRequest(action: RequestAction | WatchAction, vars: Vars, target: Target): HttpRequest {
  const headers: Record<string, string> = { 'user-agent': 'wire/1.0', accept: 'application/json' };
  const token = tokenOf(target, action.as);
  if (token) headers.authorization = `Bearer ${token}`;
  const body = bytesOf(action, vars);
  if (body) {
    headers['content-type'] = 'application/json';
    headers['content-length'] = String(body.length);
  }
  for (const [name, value] of Object.entries(action.headers ?? {})) {
    if (value === null) delete headers[name.toLowerCase()];
    else headers[name.toLowerCase()] = fillText(value, vars);
  }
  const isWatch = 'watch' in action;
  return {
    method: isWatch ? 'GET' : action.method,
    path: fillText(isWatch ? action.watch : action.path, vars),
    headers,
    ...(body ? { body } : {}),
  };
}

export async function exchange(
  request: HttpRequest,
  target: Target,
  clock: Clock = realClock,
): Promise<WireResponse> {
  const gone = new AbortController();
  const cancel = clock.wakeAt(plus(clock.now(), millis(ANSWER_WITHIN_MS)), () => gone.abort());
  try {
    return await readAnswer(await target.request({ ...request, signal: gone.signal }));
  } catch (e) {
    if (gone.signal.aborted) throw new Error('no answer within 60 s');
    throw e;
  } finally {
    cancel();
  }
}

/** Reads the whole body of an answer that ends by itself. */
export async function readAnswer(response: HttpResponse): Promise<WireResponse> {
  const chunks: Uint8Array[] = [];
  if (response.body instanceof Uint8Array) chunks.push(response.body);
  else for await (const chunk of response.body) chunks.push(chunk);
  let raw = Buffer.concat(chunks);
  if (response.headers['content-encoding'] === 'gzip') raw = gunzipSync(raw);
  return { status: response.status, headers: headersOf(response), body: decodeBody(raw, response) };
}

/** Header values as JSON; a list of one line is that line. */
export const headersOf = (response: HttpResponse): Record<string, Json> =>
  Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, oneOrMany(value)]));

const oneOrMany = (value: string | readonly string[]): Json => {
  if (typeof value === 'string') return value;
  return value.length === 1 ? value[0]! : [...value];
};

function decodeBody(raw: Buffer, response: HttpResponse): Json | undefined {
  if (raw.length === 0) return undefined;
  const type = String(response.headers['content-type'] ?? '');
  const text = raw.toString();
  if (/\bjson\b/.test(type)) return parseJson(text, text);
  if (/protobuf|octet-stream|cbor/.test(type)) return `(${type.split(';')[0]}, binary)`;
  return text.startsWith('{') ? parseJson(text, text) : text;
}

export function parseJson<T>(text: string, otherwise: T): Json | T {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return otherwise;
  }
}
