// Calls the server makes: to webhooks and aggregated APIs. Injected, so that a simulation stays in its process and the
// rest of the server knows no sockets.

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
  /** PEM of the authorities to trust beside the usual ones. */
  readonly ca?: string;
  /** Instead of the host of the URL, for the handshake. */
  readonly serverName?: string;
  readonly insecure?: boolean;
  /** Shown to the server, if it asks. */
  readonly certificate?: ClientCertificate;
  /** Of silence; unset: as long as it takes. */
  readonly timeout?: Millis;
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

/** Repeated headers stay apart. */
const distinct = ({ headersDistinct }: IncomingMessage): Record<string, string | readonly string[]> =>
  Object.fromEntries(
    Object.entries(headersDistinct).map(([name, values = []]) => [
      name,
      values.length === 1 ? values[0]! : values,
    ]),
  );

/** Node writes headers one byte per character; users may have names beyond that. */
function asBytes(headers: OutboundRequest['headers']): Record<string, string | string[]> {
  const bytes = (value: string) => Buffer.from(value, 'utf8').toString('latin1');
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? bytes(value) : value.map(bytes),
    ]),
  );
}

/** Lets go of an answer whose body nobody reads. */
export async function discard(body: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const _ of body) return;
  } catch {
    // It ended badly, which is an end.
  }
}

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
