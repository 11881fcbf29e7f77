// A socket in front of a handler, for the small servers of the runtime: health, metrics, webhooks. Bodies are bounded,
// slow clients are cut off, and what a handler throws becomes a 500 and nothing else.

import {
  createServer as createHttp,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttps, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { HttpHandler, HttpRequest, HttpResponse } from '#api/http';
import type { Certificate } from './certificate.ts';

export interface HostOptions {
  readonly handle: HttpHandler;
  /** All addresses unless told: probes come from outside. */
  readonly address?: string;
  /** 0: any free port. */
  readonly port: number;
  /** Absent: plain HTTP. */
  readonly certificate?: Certificate;
  /** Largest request body; 8 MiB unless told. */
  readonly maxBody?: number;
  /** A handler threw. */
  readonly onError?: (error: unknown) => void;
}

export interface Host {
  readonly port: number;
  close(): Promise<void>;
}

const MAX_BODY = 8 << 20;
const SLOWEST_REQUEST = 30_000;

export async function listen(options: HostOptions): Promise<Host> {
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    serve(options, request, response).catch((error: unknown) => {
      options.onError?.(error);
      response.destroy();
    });
  };
  const limits = {
    requestTimeout: SLOWEST_REQUEST,
    headersTimeout: SLOWEST_REQUEST,
    maxHeaderSize: 64 << 10,
  };
  const { certificate } = options;
  const server: Server | TlsServer =
    certificate === undefined
      ? createHttp(limits, onRequest)
      : createHttps({ ...limits, ...certificate.current(), minVersion: 'TLSv1.2' }, onRequest);
  const unfollow = certificate?.onChange((pair) =>
    (server as TlsServer).setSecureContext({ ...pair, minVersion: 'TLSv1.2' }),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.address, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        unfollow?.();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(
  options: HostOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request, options.maxBody ?? MAX_BODY);
  if (body === undefined) {
    response.setHeader('connection', 'close');
    await answer(request, response, text(413, 'the request is too large\n'));
    return;
  }
  let result: HttpResponse;
  try {
    result = await options.handle(toRequest(request, response, body));
  } catch (error) {
    options.onError?.(error);
    result = text(500, 'something went wrong\n');
  }
  await answer(request, response, result);
}

/** A short answer for people. */
export const text = (status: number, words: string, type = 'text/plain; charset=utf-8'): HttpResponse => ({
  status,
  headers: { 'content-type': type },
  body: Buffer.from(words),
});

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

/** Undefined when there is more than the limit; the rest is not read. */
async function readBody(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
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
  if (!(body instanceof Uint8Array)) throw new Error('this host does not stream');
  response.setHeader('content-length', body.length);
  response.end(request.method === 'HEAD' ? undefined : body);
}
