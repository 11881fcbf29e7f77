// Outgoing calls to webhooks and aggregated APIs. Injected, so that a simulation makes no network calls and the rest
// of the server does not depend on sockets.

import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Millis } from '@lapse/base/instant';

/** PEM. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface OutboundRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Uint8Array;
  /** PEM of additional trusted authorities. */
  readonly ca?: string;
  /** Server name for the TLS handshake; default: the host of the URL. */
  readonly serverName?: string;
  readonly insecure?: boolean;
  /** Client certificate, sent on request of the server. */
  readonly certificate?: ClientCertificate;
  /** Maximum idle time. Default: unlimited. */
  readonly timeout?: Millis;
  readonly signal?: AbortSignal;
}

export interface OutboundResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Throws when there is no response; the message is shown to clients. */
export type Outbound = (request: OutboundRequest) => Promise<OutboundResponse>;

export const noOutbound: Outbound = async ({ url }) => {
  throw new Error(`this server makes no calls to ${new URL(url).host}`);
};

/** Uses HTTPS with one connection per call. */
export const httpsOutbound: Outbound = (request) =>
  new Promise((resolve, reject) => {
    const { method, url, headers, body, ca, serverName, insecure, certificate, timeout, signal } = request;
    const outgoing = httpsRequest(
      url,
      {
        method,
        headers: asBytes(headers),
        agent: false,
        ...(timeout === undefined ? {} : { timeout }),
        ...certificate,
        ...(ca === undefined ? {} : { ca }),
        ...(serverName === undefined ? {} : { servername: serverName }),
        ...(insecure === true ? { rejectUnauthorized: false } : {}),
        ...(signal === undefined ? {} : { signal }),
      },
      (incoming) =>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: distinct(incoming),
          body: incoming,
        }),
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error('context deadline exceeded')));
    outgoing.on('error', reject);
    outgoing.end(body);
  });

/** Keeps repeated headers separate. */
const distinct = ({ headersDistinct }: IncomingMessage): Record<string, string | readonly string[]> =>
  Object.fromEntries(
    Object.entries(headersDistinct).map(([name, values = []]) => [
      name,
      values.length === 1 ? values[0]! : values,
    ]),
  );

/** Node writes headers as one byte per character; user names may need UTF-8. */
function asBytes(headers: OutboundRequest['headers']): Record<string, string | string[]> {
  const bytes = (value: string) => Buffer.from(value, 'utf8').toString('latin1');
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? bytes(value) : value.map(bytes),
    ]),
  );
}

/** Discards a response body that is not needed. */
export async function discard(body: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const _ of body) return;
  } catch {
    // The error does not matter: the body ended.
  }
}

/** All bytes of a body, up to a limit. */
export async function collect(body: AsyncIterable<Uint8Array>, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > limit) throw new Error(`response body exceeds ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
