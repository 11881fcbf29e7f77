// HTTP(S) server for health, metrics, webhooks and aggregated APIs. Headers, bodies, connections and requests in flight
// are limited, and slow clients are disconnected. An exception of a handler becomes a 500 without details.

import { constants } from 'node:crypto';
import {
  createServer as createHttp,
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttps, Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Certificate } from './certificate.ts';
import { type ServeOptions, serverOf } from './serve.ts';

export { text } from './serve.ts';

/** The CA certificates for client certificates; PEM. */
export interface ClientAuthority {
  current(): string;
  onChange(listener: () => void): () => void;
}

export interface HostOptions extends ServeOptions {
  /** Default: all addresses, because the kubelet sends probes from outside the Pod. */
  readonly address?: string;
  /** 0: any free port. */
  readonly port: number;
  /** Absent: plain HTTP. */
  readonly certificate?: Certificate;
  /** Requests client certificates. A caller without one has `verified: false`. */
  readonly clientAuthority?: ClientAuthority;
  /** Called when a connection fails before a request, for example because the client does not trust the certificate. */
  readonly onConnectionError?: () => void;
}

export interface Host {
  readonly port: number;
  close(): Promise<void>;
}

const SLOWEST_REQUEST = 30_000;
const LIMITS = {
  requestTimeout: SLOWEST_REQUEST,
  headersTimeout: 10_000,
  /** How often Node checks the two timeouts above. */
  connectionsCheckingInterval: 5_000,
  handshakeTimeout: 10_000,
  maxHeaderSize: 64 << 10,
};
const MAX_CONNECTIONS = 1024;

export async function listen(options: HostOptions): Promise<Host> {
  const serve = serverOf(options);
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    serve(request, response).catch((error: unknown) => {
      options.onError?.(error);
      response.destroy();
    });
  };
  const server = options.certificate === undefined ? createHttp(LIMITS, onRequest) : tls(options, onRequest);
  server.maxConnections = MAX_CONNECTIONS;
  reportConnectionErrors(server, options);
  const unsubscribe = server instanceof TlsServer ? follow(server, options) : undefined;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.address, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        unsubscribe?.();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const secureContext = ({ certificate, clientAuthority }: HostOptions) => ({
  ...certificate!.current(),
  minVersion: 'TLSv1.2' as const,
  // Without tickets no session is resumed, so a client must present its certificate on every connection.
  ...(clientAuthority === undefined
    ? {}
    : { ca: clientAuthority.current(), secureOptions: constants.SSL_OP_NO_TICKET }),
});

function tls(options: HostOptions, onRequest: RequestListener): TlsServer {
  // Callers without a certificate may connect. The handler receives `verified: false`.
  const asking =
    options.clientAuthority === undefined ? {} : { requestCert: true, rejectUnauthorized: false };
  return createHttps({ ...LIMITS, ...secureContext(options), ...asking }, onRequest);
}

/** Reloads the TLS context on changes, so that new connections use the current certificate and client authority. */
function follow(server: TlsServer, options: HostOptions): () => void {
  const renew = () => server.setSecureContext(secureContext(options));
  const unsubscribe = [options.certificate?.onChange(renew), options.clientAuthority?.onChange(renew)];
  return () => {
    for (const stop of unsubscribe) stop?.();
  };
}

const BAD_REQUESTS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** Reports failed connections. Otherwise responds as Node does by default. */
function reportConnectionErrors(server: HttpServer | TlsServer, { onConnectionError }: HostOptions): void {
  server.on('tlsClientError', () => onConnectionError?.());
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket: Duplex) => {
    onConnectionError?.();
    if (!socket.writable || code === 'ECONNRESET') return void socket.destroy();
    socket.end(`HTTP/1.1 ${BAD_REQUESTS[code] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
  });
}
