// Test kit of this folder: a manual clock, a scripted in-process server, and a server on loopback.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import type { Clock } from '@lapse/base/clock';
import { type Instant, instant, type Millis, millis } from '@lapse/base/instant';
import type { HttpHandler, HttpRequest, HttpResponse } from '#api/http';

export interface ManualClock extends Clock {
  /** Advances time, fires due timers, and waits until the process settles. */
  advance(by: Millis): Promise<void>;
  /** Sets the wall clock without changing the monotonic one. */
  step(by: Millis): void;
  readonly sleepers: number;
}

/** Lets pending promises, I/O callbacks and immediates run. */
export const settle = async (rounds = 3): Promise<void> => {
  for (let i = 0; i < rounds; i++) await new Promise((resolve) => setImmediate(resolve));
};

export function manualClock(start = 1_700_000_000_000): ManualClock {
  let elapsed = 0;
  let offset = start;
  const sleepers = new Map<object, { at: Instant; fn: () => void }>();
  const earliest = (until: number) => {
    let found: [object, { at: Instant; fn: () => void }] | undefined;
    for (const entry of sleepers)
      if (entry[1].at <= until && (found === undefined || entry[1].at < found[1].at)) found = entry;
    return found;
  };
  return {
    now: () => instant(offset + elapsed),
    elapsed: () => millis(elapsed),
    wakeAt(at, fn) {
      const id = {};
      sleepers.set(id, { at, fn });
      return () => sleepers.delete(id);
    },
    step(by) {
      offset += by;
    },
    async advance(by) {
      const until = offset + elapsed + by;
      await settle();
      for (let due = earliest(until); due !== undefined; due = earliest(until)) {
        sleepers.delete(due[0]);
        elapsed = Math.max(elapsed, due[1].at - offset);
        due[1].fn();
        await settle();
      }
      elapsed = until - offset;
      await settle();
    },
    get sleepers() {
      return sleepers.size;
    },
  };
}

export const bytes = (text: string): Uint8Array => Buffer.from(text);

export const json = (
  status: number,
  body: unknown,
  headers: Record<string, string | string[]> = {},
): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: bytes(JSON.stringify(body)),
});

export const errorResponse = (
  code: number,
  reason: string,
  message: string,
  details?: object,
): HttpResponse =>
  json(code, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    details,
    code,
  });

export interface Scripted {
  readonly handler: HttpHandler;
  readonly requests: HttpRequest[];
  /** Decoded JSON body of the n-th request. */
  bodyOf(index: number): unknown;
}

/** Returns one response of the list per request. The last response repeats. */
export function scripted(...answers: (HttpResponse | ((request: HttpRequest) => HttpResponse))[]): Scripted {
  const requests: HttpRequest[] = [];
  return {
    requests,
    handler: async (request) => {
      const answer = answers[Math.min(requests.length, answers.length - 1)]!;
      requests.push(request);
      return typeof answer === 'function' ? answer(request) : answer;
    },
    bodyOf: (index) => {
      const body = requests[index]?.body;
      return body === undefined ? undefined : JSON.parse(Buffer.from(body).toString());
    },
  };
}

/** A response body that arrives in these chunks. */
export async function* chunked(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield typeof part === 'string' ? bytes(part) : part;
}

export interface LocalServer {
  readonly url: string;
  /** Number of connections accepted so far. */
  readonly connections: () => number;
  readonly sockets: ReadonlySet<Socket>;
  close(): Promise<void>;
}

function track(server: Server | ReturnType<typeof createTcpServer>, event: string) {
  const sockets = new Set<Socket>();
  let accepted = 0;
  server.on(event, (socket: Socket) => {
    accepted++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  return { sockets, connections: () => accepted };
}

async function listenLocal(
  server: Server | ReturnType<typeof createTcpServer>,
  scheme: string,
  event: string,
): Promise<LocalServer> {
  const tracked = track(server, event);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    ...tracked,
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of tracked.sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** An HTTP server on loopback. The request body is complete when the handler is called. */
export function httpServer(
  handle: (request: IncomingMessage & { text: string }, response: ServerResponse) => void,
): Promise<LocalServer> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () =>
      handle(Object.assign(request, { text: Buffer.concat(parts).toString() }), response),
    );
  });
  return listenLocal(server, 'http', 'connection');
}

/** A server that sends whatever the test writes into the socket. */
export const tcpServer = (onConnection: (socket: Socket) => void): Promise<LocalServer> =>
  listenLocal(createTcpServer(onConnection), 'http', 'connection');

export { listenLocal };
