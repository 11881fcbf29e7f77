// undici's connection pools, set up for an API server: one pool for requests, one for watches.

import type { Millis } from '@lapse/base/instant';
import { type Dispatcher, Pool, ProxyAgent } from 'undici';

export interface TlsOptions {
  /** PEM; the system's roots when absent. */
  readonly ca?: string;
  /** PEM client certificate and its key. */
  readonly cert?: string;
  readonly key?: string;
  /** Name to ask for and to verify, instead of the host of the URL. */
  readonly servername?: string;
  /** Accept any certificate. */
  readonly insecure?: boolean;
}

export interface DispatcherOptions {
  readonly origin: string;
  readonly tls: TlsOptions;
  readonly proxyUrl?: string;
  /** Undefined: as many as are needed at once. */
  readonly connections?: number;
  readonly http2: boolean;
  readonly keepAliveTimeout: Millis;
  /** A backstop by undici's own timers: our deadlines are on the injected clock, which may be set back. 0: none. */
  readonly answerTimeout: Millis;
  readonly maxResponseBytes?: number;
}

const CONNECT_TIMEOUT = 10_000;
/** First TCP probe after this long without traffic: finds peers that vanished without a word. */
const TCP_KEEP_ALIVE = 30_000;
/** Warnings and long annotations travel in headers; Node's 16 KiB is little for a list of them. */
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
