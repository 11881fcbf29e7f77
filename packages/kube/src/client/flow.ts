// Flow control around a Transport: limits requests in flight and optionally their rate, respects Retry-After, and
// retries what is safe to retry: reads, and requests of which no byte was sent.

import { computeBackoff } from '@lapse/base/backoff';
import type { Clock } from '@lapse/base/clock';
import { parseHttpDate } from '@lapse/base/httpDate';
import { type Millis, millis, minutes, plus, seconds } from '@lapse/base/instant';
import type { Random } from '@lapse/base/random';
import { Gate, type GateState } from './gate.ts';
import {
  abortError,
  type HeaderMap,
  headerOf,
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
} from './transport.ts';

export interface FlowOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Default: 32. */
  readonly maxInFlight?: number;
  /** Requests per second and burst. Default: no rate limit. */
  readonly qps?: number;
  readonly burst?: number;
  /** Retries after the first attempt. Default: 3. */
  readonly retries?: number;
}

export interface Flow {
  /** The same transport with the limits of this flow. Several transports may share one flow. */
  around(transport: Transport): Transport;
  readonly state: GateState;
}

const MAX_IN_FLIGHT = 32;
const RETRIES = 3;
/** Maximum accepted Retry-After. A larger value would stop the client for good. */
const MAX_PAUSE = minutes(1);
const BACKOFF = { first: millis(100), max: seconds(5) };
/** Status codes of transient errors. */
const TRANSIENT = new Set([429, 502, 503, 504]);

/** The delay that Retry-After requests: seconds, or a date by the server's clock. */
export function computeRetryAfter(headers: HeaderMap, clock: Clock): Millis | undefined {
  const text = headerOf(headers, 'retry-after')?.trim();
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return millis(Math.min(Number(text) * 1000, MAX_PAUSE));
  const until = parseHttpDate(text);
  if (until === undefined) return undefined;
  const now = parseHttpDate(headerOf(headers, 'date') ?? '') ?? clock.now();
  return millis(Math.max(0, Math.min(until - now, MAX_PAUSE)));
}

const isRead = (request: TransportRequest): boolean => request.method === 'GET' || request.method === 'HEAD';

function isWorthRepeating(request: TransportRequest, failure: TransportError): boolean {
  if (failure.failure === 'unreachable') return !failure.sent || isRead(request);
  return isRead(request) && (failure.failure === 'broken' || failure.failure === 'timeout');
}

type Outcome = 'good' | 'overload' | 'neutral';

function outcomeOfStatus(status: number): Outcome {
  if (status === 429 || status === 504) return 'overload';
  return status === 503 ? 'neutral' : 'good';
}

const outcomeOfFailure = (error: unknown): Outcome =>
  error instanceof TransportError && error.failure === 'timeout' ? 'overload' : 'neutral';

export function createFlow(options: FlowOptions): Flow {
  const { clock, random, retries = RETRIES } = options;
  const gate = new Gate({
    clock,
    maxInFlight: options.maxInFlight ?? MAX_IN_FLIGHT,
    ...(options.qps === undefined ? {} : { qps: options.qps }),
    ...(options.burst === undefined ? {} : { burst: options.burst }),
  });

  /** One attempt inside the gate. Its slot is released when the response (for a stream: its headers) has arrived. */
  async function attempt<A extends { status: number; headers: HeaderMap }>(
    request: TransportRequest,
    send: (request: TransportRequest) => Promise<A>,
  ): Promise<A> {
    const slot = await gate.acquire(request.signal);
    try {
      const response = await send(request);
      if (response.status === 429 || response.status === 503) {
        const pause = computeRetryAfter(response.headers, clock);
        if (pause !== undefined) gate.hold(pause);
      }
      slot.release(outcomeOfStatus(response.status));
      return response;
    } catch (error) {
      slot.release(outcomeOfFailure(error));
      throw error;
    }
  }

  function sleep(length: Millis, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = clock.wakeAt(plus(clock.now(), length), () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      const onAbort = () => {
        cancel();
        reject(abortError(signal, false));
      };
      if (signal?.aborted) onAbort();
      else signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  async function persist(request: TransportRequest, inner: Transport): Promise<TransportResponse> {
    for (let failures = 1; ; failures++) {
      const last = failures > retries;
      try {
        const response = await attempt(request, (r) => inner.request(r));
        if (last || !isRead(request) || !TRANSIENT.has(response.status)) return response;
      } catch (error) {
        if (last || !(error instanceof TransportError) || !isWorthRepeating(request, error)) throw error;
      }
      await sleep(computeBackoff(failures, BACKOFF, random), request.signal);
    }
  }

  return {
    around: (inner) => ({
      request: (request) => persist(request, inner),
      stream: (request) => attempt(request, (r) => inner.stream(r)),
      ...(inner.close === undefined ? {} : { close: () => inner.close!() }),
    }),
    get state() {
      return gate.state;
    },
  };
}
