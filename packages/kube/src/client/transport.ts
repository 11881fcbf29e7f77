// The interface to the wire: request bytes out, response bytes in. Credentials, flow control and verbs are decorators
// or callers of this interface, so an in-process server can replace one on a socket.

import type { Millis } from '@lapse/base/instant';

/** Lower-case names. A list holds the values of a repeated header (`impersonate-group`, `warning`). */
export type HeaderMap = Readonly<Record<string, string | readonly string[]>>;

export interface TransportRequest {
  readonly method: string;
  /** Path and query, percent-encoded. */
  readonly path: string;
  readonly headers: HeaderMap;
  readonly body?: Uint8Array;
  readonly signal?: AbortSignal;
  /** Timeout of one attempt: until the last byte, or until the headers of a stream. 0: no timeout. */
  readonly timeout?: Millis;
}

export interface TransportResponse {
  readonly status: number;
  readonly headers: HeaderMap;
  readonly body: Uint8Array;
}

export interface TransportStream {
  readonly status: number;
  readonly headers: HeaderMap;
  /**
   * Can be iterated once. Throws TransportError if the connection fails; ends without error after `close` or an abort.
   */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Closes the connection. Idempotent. */
  close(): void;
}

export interface Transport {
  request(request: TransportRequest): Promise<TransportResponse>;
  stream(request: TransportRequest): Promise<TransportStream>;
  /** Waits for requests in flight and closes the connections. */
  close?(): Promise<void>;
}

/**
 * - `unreachable`: no connection; nothing was sent
 * - `broken`: the connection failed before the response was complete
 * - `timeout`: no complete response in time, or a stream that fell silent
 * - `aborted`: the caller's signal
 * - `malformed`: the response is not valid (not HTTP, too large, not JSON)
 * - `unsendable`: the request cannot be sent
 * - `credentials`: no credentials could be obtained
 */
export type TransportFailure =
  | 'unreachable'
  | 'broken'
  | 'timeout'
  | 'aborted'
  | 'malformed'
  | 'unsendable'
  | 'credentials';

/** There is no response. `sent` says whether the server may have received (and executed) the request. */
export class TransportError extends Error {
  readonly failure: TransportFailure;
  readonly sent: boolean;
  constructor(failure: TransportFailure, message: string, options: { sent: boolean; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'TransportError';
    this.failure = failure;
    this.sent = options.sent;
  }
}

/** The first value of a header. */
export function headerOf(headers: HeaderMap, name: string): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return typeof value === 'string' || value === undefined ? value : value[0];
}

/** The error of an aborted request. A TransportError given as the abort reason is kept. */
export function abortError(signal: AbortSignal | undefined, sent: boolean): TransportError {
  const reason: unknown = signal?.reason;
  if (reason instanceof TransportError) return reason;
  return new TransportError('aborted', 'the request was cancelled', { sent, cause: reason });
}
