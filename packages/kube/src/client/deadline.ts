// Enforces the timeout of each attempt on the injected clock, and reports every attempt to an observer.

import type { Clock } from '@lapse/base/clock';
import { type Instant, type Millis, millis, plus } from '@lapse/base/instant';
import { linkedController, onEnd } from './abortable.ts';
import {
  type HeaderMap,
  type Transport,
  TransportError,
  type TransportFailure,
  type TransportRequest,
} from './transport.ts';

/** A finished attempt. For streams: after the headers. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly stream: boolean;
  /** Undefined if there was no response. */
  readonly status?: number;
  readonly failure?: TransportFailure;
  readonly headers?: HeaderMap;
  readonly sentAt: Instant;
  readonly roundTrip: Millis;
}

export interface DeadlineOptions {
  readonly clock: Clock;
  /** Default timeout of requests without their own. */
  readonly timeout: Millis;
  /** Called after every attempt. Must not throw. */
  readonly observe?: (exchange: Exchange) => void;
}

type Answer = { readonly status: number; readonly headers: HeaderMap };
type Send<A> = (request: TransportRequest) => Promise<A>;

/** Sends with a time limit. The caller's signal stays linked until the caller calls `unlink`. */
async function sendWithin<A>(clock: Clock, limit: Millis, request: TransportRequest, send: Send<A>) {
  const { controller, unlink } = linkedController(request.signal);
  let expired = false;
  const cancel = clock.wakeAt(plus(clock.now(), limit), () => {
    expired = true;
    controller.abort();
  });
  try {
    return { response: await send({ ...request, signal: controller.signal }), unlink };
  } catch (error) {
    unlink();
    if (!expired) throw error;
    const sent = error instanceof TransportError ? error.sent : true;
    const message = `no response to ${request.method} ${request.path} within ${limit / 1000} s`;
    throw new TransportError('timeout', message, { sent, cause: error });
  } finally {
    cancel();
  }
}

export function withDeadline(inner: Transport, options: DeadlineOptions): Transport {
  const { clock, observe } = options;

  async function recorded<A extends Answer>(request: TransportRequest, stream: boolean, send: Send<A>) {
    const start = clock.elapsed();
    const { method, path } = request;
    const sentAt = clock.now();
    const record = (end: Answer | { failure: TransportFailure }) =>
      observe?.({ method, path, stream, sentAt, roundTrip: millis(clock.elapsed() - start), ...end });
    try {
      const response = await send(request);
      record({ status: response.status, headers: response.headers });
      return response;
    } catch (error) {
      record({ failure: error instanceof TransportError ? error.failure : 'broken' });
      throw error;
    }
  }

  return {
    request: (request) =>
      recorded(request, false, async (r) => {
        const limit = r.timeout ?? options.timeout;
        if (limit <= 0) return inner.request(r);
        const { response, unlink } = await sendWithin(clock, limit, r, (x) => inner.request(x));
        unlink();
        return response;
      }),
    stream: (request) =>
      recorded(request, true, async (r) => {
        const limit = r.timeout ?? options.timeout;
        if (limit <= 0) return inner.stream(r);
        const { response, unlink } = await sendWithin(clock, limit, r, (x) => inner.stream(x));
        const close = () => {
          unlink();
          response.close();
        };
        return { ...response, chunks: onEnd(response.chunks, unlink), close };
      }),
    ...(inner.close === undefined ? {} : { close: () => inner.close!() }),
  };
}
