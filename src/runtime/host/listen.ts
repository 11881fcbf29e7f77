// A socket in front of a handler, for the small servers of the runtime: health, metrics, webhooks. Bodies are bounded,
// slow clients are cut off, and what a handler throws becomes a 500 and nothing else.

import {
  createServer as createHttp,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttps, Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { TLSSocket } from 'node:tls';
import { headerText } from '#api/headerText';
import type { HttpRequest, HttpResponse } from '#api/http';
import type { Certificate } from './certificate.ts';

/** Who is at the other end, and its headers one by one: joined, a comma in one could pass for two. */
export interface Peer {
  /** It showed a certificate of the `clientAuthority`. */
  readonly verified: boolean;
  readonly commonName?: string;
  headers(name: string): readonly string[];
  headerNames(): readonly string[];
}

/** Whose client certificates are believed; PEM. */
export interface ClientAuthority {
  current(): string;
  onChange(listener: () => void): () => void;
}

export interface HostOptions {
  readonly handle: (request: HttpRequest, peer: Peer) => Promise<HttpResponse>;
  /** All addresses unless told: probes come from outside. */
  readonly address?: string;
  /** 0: any free port. */
  readonly port: number;
  /** Absent: plain HTTP. */
  readonly certificate?: Certificate;
  /** Ask callers for certificates; whoever has none is `verified: false`. */
  readonly clientAuthority?: ClientAuthority;
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
  const server =
    options.certificate === undefined ? createHttp(limits, onRequest) : tlsServer(options, limits, onRequest);
  const unfollow = server instanceof TlsServer ? follow(server, options) : undefined;
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

const secureContext = ({ certificate, clientAuthority }: HostOptions) => ({
  ...certificate!.current(),
  minVersion: 'TLSv1.2' as const,
  ...(clientAuthority === undefined ? {} : { ca: clientAuthority.current() }),
});

function tlsServer(options: HostOptions, limits: object, onRequest: RequestListener): TlsServer {
  // Callers without a certificate are let in, and are nobody.
  const asking =
    options.clientAuthority === undefined ? {} : { requestCert: true, rejectUnauthorized: false };
  return createHttps({ ...limits, ...secureContext(options), ...asking }, onRequest);
}

/** New connections are made with what is current then. */
function follow(server: TlsServer, options: HostOptions): () => void {
  const renew = () => server.setSecureContext(secureContext(options));
  const unfollow = [options.certificate?.onChange(renew), options.clientAuthority?.onChange(renew)];
  return () => {
    for (const stop of unfollow) stop?.();
  };
}

function peerOf(request: IncomingMessage): Peer {
  const { socket, headersDistinct } = request;
  const verified = socket instanceof TLSSocket && socket.authorized;
  const name = verified ? socket.getPeerCertificate().subject?.CN : undefined;
  const commonName = Array.isArray(name) ? name[0] : name;
  return {
    verified,
    ...(commonName === undefined ? {} : { commonName }),
    headers: (header) =>
      Object.hasOwn(headersDistinct, header) ? (headersDistinct[header] ?? []).map(headerText) : [],
    headerNames: () => Object.keys(headersDistinct),
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
    result = await options.handle(toRequest(request, response, body), peerOf(request));
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
  if (!(body instanceof Uint8Array)) {
    if (request.method === 'HEAD') response.end();
    else await pipeline(body, response);
    return;
  }
  response.setHeader('content-length', body.length);
  response.end(request.method === 'HEAD' ? undefined : body);
}
