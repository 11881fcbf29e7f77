// Serves `handle` on a socket: node:https, or node:http for tests on loopback.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Millis, seconds } from '@lapse/base/instant';
import type { HttpHandler, HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import { ApiError } from '@lapse/kube/api/status';
import { Relayed } from '../aggregation/relayed.ts';
import { EventStream } from '../watch/eventStream.ts';
import { MAX_BODY, tooLarge } from './handle.ts';
import { InFlight } from './inFlight.ts';
import { parseHeaders } from './requestHeaders.ts';
import { errorResponse } from './respond.ts';

export interface ListenOptions {
  /** Default: 127.0.0.1, reachable only from this machine. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** PEM. Default: plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Maximum number of concurrent requests, watches not counted. */
  readonly maxInFlight?: number;
  /** How long `close` waits for requests in flight. */
  readonly drain?: Millis;
}

export interface Listener {
  readonly url: string;
  /** An IP address of this machine at which the server accepts connections. */
  readonly address: string;
  readonly port: number;
  /**
   * Stops accepting, waits for requests in flight, then closes the rest (watches at once). Resolves when the port is
   * free.
   */
  readonly close: () => Promise<void>;
}

// Go clients reuse idle connections for 90 s and report EOF on POST when the server closed first.
const KEEP_ALIVE_MS = 120_000;
const MAX_IN_FLIGHT = 600;
// Same limit as Go: URLs with selectors get long.
const MAX_HEADER_BYTES = 1 << 20;
const DRAIN = seconds(15);

export async function listen(handle: HttpHandler, options: ListenOptions = {}): Promise<Listener> {
  const handler = new RequestHandler(handle, new ConcurrencyLimit(options.maxInFlight ?? MAX_IN_FLIGHT));
  const onRequest = (req: IncomingMessage, res: ServerResponse) => {
    handler.serve(req, res).catch(() => res.destroy());
  };
  const limits = {
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: 60_000,
    noDelay: true,
  };
  const server: Server = options.tls
    ? createHttps(
        { ...limits, cert: options.tls.cert, key: options.tls.key, minVersion: 'TLSv1.2' },
        onRequest,
      )
    : plainHttp().createServer(limits, onRequest);
  const host = options.host ?? '127.0.0.1';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  const { port, address } = server.address() as AddressInfo;
  const shown = host.includes(':') ? `[${host}]` : host;
  return {
    url: `${options.tls ? 'https' : 'http'}://${shown}:${port}`,
    address: reachable(address),
    port,
    close: () => closeServer(server, handler, options.drain ?? DRAIN),
  };
}

/** The first address of a network, when the server listens on all. */
function reachable(address: string): string {
  if (address !== '0.0.0.0' && address !== '::') return address;
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? '127.0.0.1';
}

/** A static import would evaluate all exports of the module at every start, including a WebSocket client. */
const plainHttp = () => process.getBuiltinModule('node:http');

async function closeServer(server: Server, handler: RequestHandler, drain: Millis): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  await handler.close(drain);
  server.closeAllConnections();
  await closed;
}

/** Bounded concurrency: above the limit a client gets 429 instead of waiting in a queue. */
class ConcurrencyLimit {
  #free: number;
  constructor(size: number) {
    this.#free = size;
  }
  enter(): boolean {
    if (this.#free === 0) return false;
    this.#free--;
    return true;
  }
  leave(): void {
    this.#free++;
  }
}

const TOO_MANY = new ApiError(429, 'TooManyRequests', 'Too many requests, please try again later.', {
  retryAfterSeconds: 1,
});

/** Serves requests and tracks those in flight. */
class RequestHandler {
  readonly #handle: HttpHandler;
  readonly #limit: ConcurrencyLimit;
  readonly #answering = new InFlight();
  #closing = false;

  constructor(handle: HttpHandler, limit: ConcurrencyLimit) {
    this.#handle = handle;
    this.#limit = limit;
  }

  async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    // `handle` sets the Date header from the clock of the server.
    res.sendDate = false;
    this.#answering.enter();
    const leave = once(() => this.#answering.leave());
    res.once('close', leave);
    const response = await this.#respond(req, res);
    if (isEndless(response)) leave();
    if (this.#closing) res.setHeader('connection', 'close');
    await send(req, res, response);
  }

  async #respond(req: IncomingMessage, res: ServerResponse): Promise<HttpResponse> {
    if (!this.#limit.enter()) {
      req.resume();
      return errorResponse(TOO_MANY);
    }
    try {
      const body = await readBody(req);
      if (body !== 'too large') return await this.#handle(requestOf(req, res, body));
      res.setHeader('connection', 'close');
      return errorResponse(tooLarge());
    } finally {
      this.#limit.leave();
    }
  }

  async close(drain: Millis): Promise<void> {
    this.#closing = true;
    await this.#answering.drained(drain);
  }
}

/** Watches, own or proxied, end only when the client or the server closes them. */
const isEndless = ({ body, headers }: HttpResponse): boolean =>
  body instanceof EventStream || (body instanceof Relayed && headers['content-length'] === undefined);

function once(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) run();
    isDone = true;
  };
}

function requestOf(req: IncomingMessage, res: ServerResponse, body: Buffer | undefined): HttpRequest {
  let gone: AbortSignal | undefined;
  return {
    method: req.method!,
    path: req.url!,
    headers: parseHeaders(req.rawHeaders),
    ...(body ? { body } : {}),
    // Created on first use: only watches use it.
    get signal() {
      gone ??= closeSignal(res);
      return gone;
    },
  };
}

function closeSignal(res: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (res.closed) controller.abort();
  else res.once('close', () => controller.abort());
  return controller.signal;
}

/**
 * Uses events instead of iteration: a body has one or two chunks, and an async iterator costs more than reading them.
 */
function readBody(req: IncomingMessage): Promise<Buffer | undefined | 'too large'> {
  const { headers } = req;
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return NO_BODY;
  if (Number(headers['content-length'] ?? 0) > MAX_BODY) return Promise.resolve(drain(req));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY) chunks.push(chunk);
      else resolve(drain(req));
    });
    req.once('end', () => resolve(chunks.length > 1 ? Buffer.concat(chunks) : chunks[0]));
    req.once('error', reject);
    req.once('aborted', () => reject(new Error('client closed the connection')));
  });
}

const NO_BODY = Promise.resolve(undefined);

function drain(req: IncomingMessage): 'too large' {
  req.resume();
  return 'too large';
}

async function send(req: IncomingMessage, res: ServerResponse, response: HttpResponse): Promise<void> {
  const { status, headers, body } = response;
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value as string | string[]);
  res.statusCode = status;
  if (body instanceof Uint8Array) {
    if (req.method !== 'HEAD') res.setHeader('content-length', body.length);
    res.end(req.method === 'HEAD' ? undefined : body);
    return;
  }
  // Sends the headers before the first event, so that the client knows that its watch is open.
  res.flushHeaders();
  await pipeline(Readable.from(body, { objectMode: false, highWaterMark: 1 << 16 }), res);
}
