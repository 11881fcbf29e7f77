// Test kit for the socket transport: servers and transports that are closed after each test.

import { realClock } from '@lapse/base/clock';
import { afterEach } from 'vitest';
import type { LocalServer } from './testkit.ts';
import { TransportError, type TransportRequest, type TransportStream } from './transport.ts';
import { type UndiciOptions, type UndiciTransport, undiciTransport } from './undici.ts';

const cleanup: (() => Promise<void>)[] = [];
/** Call once at the top of a test file. */
export const closeAfterEach = (): void =>
  afterEach(async () => {
    for (const close of cleanup.splice(0).reverse()) await close();
  });

export async function serve(server: Promise<LocalServer>): Promise<LocalServer> {
  const local = await server;
  cleanup.push(() => local.close());
  return local;
}

export function transportTo(local: { url: string }, options: Partial<UndiciOptions> = {}): UndiciTransport {
  const transport = undiciTransport({ server: local.url, clock: realClock, ...options });
  cleanup.push(() => transport.close().catch(() => {}));
  return transport;
}

export const get = (path: string, more: Partial<TransportRequest> = {}): TransportRequest => ({
  method: 'GET',
  path,
  headers: {},
  ...more,
});
export const del = (path: string): TransportRequest => ({
  method: 'DELETE',
  path,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{"kind":"DeleteOptions","apiVersion":"v1"}'),
});

export const failureOf = async (work: Promise<unknown>): Promise<TransportError> => {
  const error = await work.then(
    () => new Error('it answered'),
    (e: unknown) => e,
  );
  if (!(error instanceof TransportError)) throw error;
  return error;
};

export const collect = async (stream: TransportStream): Promise<string> => {
  let text = '';
  for await (const chunk of stream.chunks) text += Buffer.from(chunk).toString();
  return text;
};
