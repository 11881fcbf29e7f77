// One request on an undici dispatcher. `dispatch` rather than `request`: only its handler hears when the request begins
// to go out, and that decides whether a write may be repeated after a failure.

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
    // Without this undici closes the connection after every DELETE that has a body.
    reset: false,
  };
}

interface Settle {
  resolve(response: TransportResponse): void;
  reject(error: Error): void;
}

/** Collects one answer and settles once. */
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
    // Aborted while it waited for a connection: it must not go out any more.
    if (this.#over) controller.abort(abortError(this.#signal, false));
    else this.#controller = controller;
  }

  onResponseStart(_: Controller, status: number, headers: object): void {
    // An interim answer (1xx) is overwritten by the one that follows.
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
