// The wire, seen from the client: bytes out, bytes back. Everything above (credentials, flow control, verbs) is a
// decorator or a caller of this interface, so a server in the same process is a drop-in for one behind a socket.

import type { Millis } from '@lapse/base/instant';

/** Lower-case names. A list stands for repeated header lines (`impersonate-group`, `warning`). */
export type HeaderMap = Readonly<Record<string, string | readonly string[]>>;

export interface TransportRequest {
  readonly method: string;
  /** Path and query, percent-encoded. */
  readonly path: string;
  readonly headers: HeaderMap;
  readonly body?: Uint8Array;
  readonly signal?: AbortSignal;
  /** Longest time one attempt may take: to the last byte, or to the headers of a stream. 0 means for ever. */
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
  /** Iterate once. Throws TransportError when the connection fails; simply ends after `close` or an abort. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Gives the connection up. Idempotent. */
  close(): void;
}

export interface Transport {
  request(request: TransportRequest): Promise<TransportResponse>;
  stream(request: TransportRequest): Promise<TransportStream>;
  /** Waits for what is in flight and lets the connections go. */
  close?(): Promise<void>;
}

/**
 * - `unreachable`: no connection; nothing was sent
 * - `broken`: the connection failed before the answer was complete
 * - `timeout`: no complete answer in time, or a stream that fell silent
 * - `aborted`: the caller's signal
 * - `malformed`: what came back is not an answer (not HTTP, too large, not JSON)
 * - `unsendable`: the request itself cannot be put on the wire
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

/** There is no answer. `sent` says whether the server may have seen (and carried out) the request. */
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

/** The error an aborted request ends with; a TransportError given as the abort's reason is kept. */
export function abortError(signal: AbortSignal | undefined, sent: boolean): TransportError {
  const reason: unknown = signal?.reason;
  if (reason instanceof TransportError) return reason;
  return new TransportError('aborted', 'the request was cancelled', { sent, cause: reason });
}
