// Serves one HTTP request: refuses it before its body is read if possible, limits its body and the total size of all
// bodies in flight, calls the handler and writes the response.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import { type Peer, peerOf } from './peer.ts';

/** The parts of a request that are known before its body is read. */
export type RequestHead = Pick<HttpRequest, 'method' | 'path'>;

/** Why a request exceeded a limit: its size, or too many requests in flight. */
export type Excess = 'size' | 'overload';

export interface ServeOptions {
  readonly handle: (request: HttpRequest, peer: Peer) => Promise<HttpResponse>;
  /** Returns a response that does not need the request body. The body is then not read and the connection is closed. */
  readonly refuse?: (head: RequestHead, peer: Peer) => HttpResponse | undefined;
  /** Largest request body in bytes; default: 64 KiB. */
  readonly maxBody?: number;
  /** Maximum bytes of all bodies in flight; default: four times `maxBody`. */
  readonly maxBuffered?: number;
  /** Maximum requests in flight; default: 64. More get 429 with Retry-After. */
  readonly maxInFlight?: number;
  /** Called when a request exceeds a limit. */
  readonly onExcess?: (excess: Excess) => void;
  /** Called when a handler throws. */
  readonly onError?: (error: unknown) => void;
}

const MAX_BODY = 64 << 10;
const MAX_IN_FLIGHT = 64;

/** A short plain text response. */
export const text = (status: number, words: string, type = 'text/plain; charset=utf-8'): HttpResponse => ({
  status,
  headers: { 'content-type': type },
  body: Buffer.from(words),
});

const TOO_LARGE = text(413, 'the request is too large\n');
/** API servers retry after this time, within the timeout of the webhook call. */
const BUSY: HttpResponse = {
  ...text(429, 'too many requests in flight\n'),
  headers: { 'content-type': 'text/plain; charset=utf-8', 'retry-after': '1' },
};

export function serverOf(
  options: ServeOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { maxBody = MAX_BODY, maxInFlight = MAX_IN_FLIGHT, maxBuffered = 4 * maxBody, onExcess } = options;
  const room = { requests: maxInFlight, bytes: maxBuffered };

  async function handle(request: IncomingMessage, response: ServerResponse, peer: Peer): Promise<void> {
    const body = await readBody(request, maxBody, room);
    if (body.kind !== 'read') {
      onExcess?.(body.kind === 'tooLarge' ? 'size' : 'overload');
      await answerUnread(request, response, body.kind === 'tooLarge' ? TOO_LARGE : BUSY);
      return;
    }
    try {
      await answer(request, response, await respond(options, toRequest(request, response, body.bytes), peer));
    } finally {
      room.bytes += body.bytes.length;
    }
  }

  return async (request, response) => {
    const peer = peerOf(request);
    const refusal = options.refuse?.({ method: request.method!, path: request.url! }, peer);
    if (refusal !== undefined) return answerUnread(request, response, refusal);
    if (room.requests === 0) {
      onExcess?.('overload');
      return answerUnread(request, response, BUSY);
    }
    room.requests--;
    try {
      await handle(request, response, peer);
    } finally {
      room.requests++;
    }
  };
}

async function respond(options: ServeOptions, request: HttpRequest, peer: Peer): Promise<HttpResponse> {
  try {
    return await options.handle(request, peer);
  } catch (error) {
    options.onError?.(error);
    return text(500, 'internal error\n');
  }
}

function toRequest(request: IncomingMessage, response: ServerResponse, body: Buffer): HttpRequest {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  return {
    method: request.method!,
    path: request.url!,
    headers,
    signal: gone.signal,
    ...(body.length > 0 ? { body } : {}),
  };
}

type Body = { readonly kind: 'read'; readonly bytes: Buffer } | { readonly kind: 'tooLarge' | 'noRoom' };

/** Reserves the read bytes from `room` and frees them unless it returns a body. Stops reading a body over the limit. */
async function readBody(request: IncomingMessage, limit: number, room: { bytes: number }): Promise<Body> {
  if (Number(request.headers['content-length'] ?? 0) > limit) return { kind: 'tooLarge' };
  const chunks: Buffer[] = [];
  let size = 0;
  const giveBack = (kind: 'tooLarge' | 'noRoom'): Body => {
    room.bytes += size;
    return { kind };
  };
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (size + chunk.length > limit) return giveBack('tooLarge');
      if (chunk.length > room.bytes) return giveBack('noRoom');
      room.bytes -= chunk.length;
      size += chunk.length;
      chunks.push(chunk);
    }
  } catch (error) {
    room.bytes += size;
    throw error;
  }
  return { kind: 'read', bytes: Buffer.concat(chunks) };
}

/** Responds without reading the rest of the body, and closes the connection. */
async function answerUnread(
  request: IncomingMessage,
  response: ServerResponse,
  result: HttpResponse,
): Promise<void> {
  response.setHeader('connection', 'close');
  await answer(request, response, result);
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  result: HttpResponse,
): Promise<void> {
  response.statusCode = result.status;
  for (const [name, value] of Object.entries(result.headers))
    response.setHeader(name, value as string | string[]);
  const { body } = result;
  if (!(body instanceof Uint8Array)) {
    if (request.method === 'HEAD') response.end();
    else await pipeline(body, response);
    return;
  }
  response.setHeader('content-length', body.length);
  response.end(request.method === 'HEAD' ? undefined : body);
}
