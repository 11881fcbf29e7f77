// Sends one request with undici's `dispatch`. Unlike `request`, its handler is notified when sending starts. That
// decides whether a write may be retried after a failure.

import type { Dispatcher } from 'undici';
import { abortError, type HeaderMap, type TransportRequest, type TransportResponse } from './transport.ts';
import { fromUndici } from './undiciErrors.ts';

type Controller = Dispatcher.DispatchController;

export interface Target {
  readonly dispatcher: Dispatcher;
  readonly origin: string;
  /** Path prefix of the server's URL, without a trailing slash. */
  readonly prefix: string;
}

export function toDispatchOptions(target: Target, request: TransportRequest): Dispatcher.DispatchOptions {
  return {
    origin: target.origin,
    path: target.prefix + request.path,
    method: request.method,
    headers: request.headers as Record<string, string | string[]>,
    body: request.body === undefined ? null : request.body,
    // Without this, undici closes the connection after every DELETE with a body.
    reset: false,
  };
}

interface Settle {
  resolve(response: TransportResponse): void;
  reject(error: Error): void;
}

/** Collects one response and settles once. */
class Collector implements Dispatcher.DispatchHandler {
  readonly #target: Target;
  readonly #signal: AbortSignal | undefined;
  readonly #settled: Settle;
  readonly #chunks: Uint8Array[] = [];
  #status = 0;
  #headers: HeaderMap = {};
  #controller: Controller | undefined;
  #over = false;

  constructor(target: Target, signal: AbortSignal | undefined, settled: Settle) {
    this.#target = target;
    this.#signal = signal;
    this.#settled = settled;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  readonly #onAbort = (): void => {
    const error = abortError(this.#signal, this.#controller !== undefined);
    this.#finish(() => this.#settled.reject(error));
    this.#controller?.abort(error);
  };

  #finish(settle: () => void): void {
    if (this.#over) return;
    this.#over = true;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    settle();
  }

  onRequestStart(controller: Controller): void {
    // The request was aborted while it waited for a connection and must not be sent.
    if (this.#over) controller.abort(abortError(this.#signal, false));
    else this.#controller = controller;
  }

  onResponseStart(_: Controller, status: number, headers: object): void {
    // The final response overwrites an interim one (1xx).
    this.#status = status;
    this.#headers = headers as HeaderMap;
  }

  onResponseData(_: Controller, chunk: Uint8Array): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    this.#finish(() => this.#settled.resolve({ status: this.#status, headers: this.#headers, body }));
  }

  onResponseError(_: Controller, cause: Error): void {
    const error = fromUndici(cause, this.#target.origin, this.#controller !== undefined);
    this.#finish(() => this.#settled.reject(error));
  }
}

export function dispatchRequest(target: Target, request: TransportRequest): Promise<TransportResponse> {
  if (request.signal?.aborted) return Promise.reject(abortError(request.signal, false));
  return new Promise((resolve, reject) => {
    const collector = new Collector(target, request.signal, { resolve, reject });
    try {
      target.dispatcher.dispatch(toDispatchOptions(target, request), collector);
    } catch (error) {
      reject(fromUndici(error, target.origin, false));
    }
  });
}
