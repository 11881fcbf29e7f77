// Calls the server makes: to webhooks and aggregated APIs. Injected, so that a simulation stays in its process and the
// rest of the server knows no sockets.

import { request as httpsRequest } from 'node:https';
import type { Millis } from '#base/instant';

export interface OutboundRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Uint8Array;
  /** PEM of the authorities to trust beside the usual ones. */
  readonly ca?: string;
  /** Instead of the host of the URL, for the handshake. */
  readonly serverName?: string;
  readonly insecure?: boolean;
  readonly timeout: Millis;
  readonly signal?: AbortSignal;
}

export interface OutboundResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Throws when there is no answer; the message is shown to clients. */
export type Outbound = (request: OutboundRequest) => Promise<OutboundResponse>;

export const noOutbound: Outbound = async ({ url }) => {
  throw new Error(`this server makes no calls to ${new URL(url).host}`);
};

/** Over HTTPS, one connection per call. */
export const httpsOutbound: Outbound = (request) =>
  new Promise((resolve, reject) => {
    const { method, url, headers, body, ca, serverName, insecure, timeout, signal } = request;
    const outgoing = httpsRequest(
      url,
      {
        method,
        headers: headers as Record<string, string | string[]>,
        agent: false,
        timeout,
        ...(ca === undefined ? {} : { ca }),
        ...(serverName === undefined ? {} : { servername: serverName }),
        ...(insecure === true ? { rejectUnauthorized: false } : {}),
        ...(signal === undefined ? {} : { signal }),
      },
      (incoming) =>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers as Record<string, string | readonly string[]>,
          body: incoming,
        }),
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error('context deadline exceeded')));
    outgoing.on('error', reject);
    outgoing.end(body);
  });

/** All bytes, if they are not too many. */
export async function collect(body: AsyncIterable<Uint8Array>, most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > most) throw new Error(`the answer is larger than ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
