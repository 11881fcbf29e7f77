// The transport to an API server in the same process. It uses no socket, but still transfers bytes.

import type { HttpHandler, HttpRequest, HttpResponse, RequestHeaders } from '#api/http';
import { abortable, linkedController, onEnd } from './abortable.ts';
import {
  abortError,
  type HeaderMap,
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
  type TransportStream,
} from './transport.ts';

/** Repeated header values stay separate, because they may contain commas. */
function headersOf(headers: HeaderMap): RequestHeaders {
  const sent: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(headers))
    sent[name] = typeof value === 'string' || value.length !== 1 ? value : value[0]!;
  return sent as RequestHeaders;
}

const toHttp = (request: TransportRequest, signal: AbortSignal): HttpRequest => ({
  method: request.method,
  path: request.path,
  headers: headersOf(request.headers),
  ...(request.body === undefined ? {} : { body: request.body }),
  signal,
});

/**
 * Settles with the handler's response or the abort, whichever comes first. The handler sees the abort through its
 * signal.
 */
function responseOrAbort<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal?.aborted) return Promise.reject(abortError(signal, false));
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(abortError(signal, true));
    signal?.addEventListener('abort', onAbort, { once: true });
    const settle = () => signal?.removeEventListener('abort', onAbort);
    work().then(
      (value) => {
        settle();
        resolve(value);
      },
      (cause: unknown) => {
        settle();
        if (cause instanceof TransportError) reject(cause);
        else
          reject(new TransportError('broken', `the server failed: ${String(cause)}`, { sent: true, cause }));
      },
    );
  });
}

async function collect(body: HttpResponse['body']): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

async function openStream(handler: HttpHandler, request: TransportRequest): Promise<TransportStream> {
  const { controller, unlink } = linkedController(request.signal);
  const close = () => {
    unlink();
    controller.abort();
  };
  try {
    const response = await responseOrAbort(() => handler(toHttp(request, controller.signal)), request.signal);
    const body = response.body instanceof Uint8Array ? once(response.body) : response.body;
    const chunks = onEnd(abortable(body, controller.signal), close);
    return { status: response.status, headers: response.headers, chunks, close };
  } catch (error) {
    close();
    throw error;
  }
}

export function inProcessTransport(handler: HttpHandler): Transport {
  return {
    request: (request) =>
      responseOrAbort(async (): Promise<TransportResponse> => {
        const signal = request.signal ?? new AbortController().signal;
        const response = await handler(toHttp(request, signal));
        return { status: response.status, headers: response.headers, body: await collect(response.body) };
      }, request.signal),
    stream: (request) => openStream(handler, request),
  };
}
