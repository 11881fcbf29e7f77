// Configures undici's connection pools for an API server: one pool for requests, one for watches.

import type { Millis } from '@lapse/base/instant';
import { type Dispatcher, Pool, ProxyAgent } from 'undici';

export interface TlsOptions {
  /** CA certificates in PEM. Default: the system's roots. */
  readonly ca?: string;
  /** Client certificate and key in PEM. */
  readonly cert?: string;
  readonly key?: string;
  /** TLS server name to send and verify, instead of the host of the URL. */
  readonly servername?: string;
  /** Accept any certificate. */
  readonly insecure?: boolean;
}

export interface DispatcherOptions {
  readonly origin: string;
  readonly tls: TlsOptions;
  readonly proxyUrl?: string;
  /** Maximum number of connections. Default: unlimited. */
  readonly connections?: number;
  readonly http2: boolean;
  readonly keepAliveTimeout: Millis;
  /**
   * A second timeout on undici's own timers, because the injected clock of the deadlines may be set back. 0: disabled.
   */
  readonly answerTimeout: Millis;
  readonly maxResponseBytes?: number;
}

const CONNECT_TIMEOUT = 10_000;
/** Time without traffic before the first TCP keep-alive probe. Detects peers that disappeared silently. */
const TCP_KEEP_ALIVE = 30_000;
/** Warnings and long annotations are sent in headers. Node's default of 16 KiB is too small for many of them. */
const MAX_HEADER_BYTES = 64 * 1024;

function connectOptions(tls: TlsOptions) {
  return {
    keepAlive: true,
    keepAliveInitialDelay: TCP_KEEP_ALIVE,
    timeout: CONNECT_TIMEOUT,
    rejectUnauthorized: tls.insecure !== true,
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
    ...(tls.cert === undefined ? {} : { cert: tls.cert }),
    ...(tls.key === undefined ? {} : { key: tls.key }),
    ...(tls.servername === undefined ? {} : { servername: tls.servername }),
  };
}

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const shared = {
    connections: options.connections ?? null,
    pipelining: 1,
    allowH2: options.http2,
    keepAliveTimeout: options.keepAliveTimeout,
    headersTimeout: options.answerTimeout,
    bodyTimeout: options.answerTimeout,
    maxHeaderSize: MAX_HEADER_BYTES,
    maxResponseSize: options.maxResponseBytes ?? -1,
  };
  const connect = connectOptions(options.tls);
  if (options.proxyUrl === undefined) return new Pool(options.origin, { ...shared, connect });
  const requestTls = { ...connect, allowH2: options.http2 };
  return new ProxyAgent({ ...shared, uri: options.proxyUrl, connectTimeout: CONNECT_TIMEOUT, requestTls });
}
