// The connection of one process under test to the server. Records every request and applies faults. Requests that a fault
// delays are counted apart from those in progress, because the clock may advance while they wait.

import type { Clock } from '@lapse/base/clock';
import type { Instant, Millis } from '@lapse/base/instant';
import { sleep } from '@lapse/base/sleep';
import type { HttpHandler, HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import { isObject } from '@lapse/kube/api/json';
import { TransportError } from '@lapse/kube/client/transport';
import type { Fault, Faults } from './faults.ts';
import { isWrite, parseRequestInfo, type RequestInfo } from './requestInfo.ts';
import { withoutWatchTimeout } from './withoutWatchTimeout.ts';

/** One request of the process under test. */
export interface RequestRecord extends RequestInfo {
  /** When it was sent, in simulation time. */
  readonly at: Instant;
  /** When the process got the response or gave up. */
  answeredAt?: Instant;
  /** The status code of the response; `lost` if the process got none, `pending` until then. */
  status: number | 'lost' | 'pending';
  /** The version of the object in the response to a write. */
  resourceVersion?: string;
  /** The reason of an error response. */
  reason?: string;
  message?: string;
}

export interface WireOptions {
  readonly handler: HttpHandler;
  readonly faults: Faults;
  readonly clock: Clock;
  readonly onRequest: (record: RequestRecord) => void;
  /** Called when the response, or its absence, is known. */
  readonly onAnswer: (record: RequestRecord) => void;
}

export class Wire {
  readonly #options: WireOptions;
  readonly #connection = new AbortController();
  #waiting = 0;

  constructor(options: WireOptions) {
    this.#options = options;
  }

  /** Number of requests that wait for time to advance. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Cuts the connection of a killed process: no request is sent and no response arrives any more. */
  cut(): void {
    this.#connection.abort();
  }

  readonly handle: HttpHandler = async (request) => {
    const record: RequestRecord = {
      ...parseRequestInfo(request),
      at: this.#options.clock.now(),
      status: 'pending',
    };
    if (this.#connection.signal.aborted) return this.#hang(request);
    this.#options.onRequest(record);
    try {
      const response = await this.#through(request, record);
      record.status = response.status;
      if (response.status >= 400) readRefusal(record, response);
      else if (isWrite(record)) readVersion(record, response);
      return response;
    } catch (error) {
      record.status = 'lost';
      throw error;
    } finally {
      record.answeredAt = this.#options.clock.now();
      if (!this.#connection.signal.aborted) this.#options.onAnswer(record);
    }
  };

  async #through(request: HttpRequest, record: RequestRecord): Promise<HttpResponse> {
    const { faults } = this.#options;
    for (const fn of faults.takeHooks(record)) await fn(record);
    const fault = faults.take(record);
    if (fault === undefined) return this.#send(request, record);
    const early = await this.#before(fault, request);
    if (early !== undefined) return early;
    const response = await this.#send(request, record);
    await this.#after(fault, request, record);
    return response;
  }

  /** Applies a fault before the server receives the request. A returned response means that it never does. */
  async #before(fault: Fault, request: HttpRequest): Promise<HttpResponse | undefined> {
    if ('answer' in fault) return refusal(fault);
    if ('unreachable' in fault)
      throw new TransportError('unreachable', 'there is no connection', { sent: false });
    if ('drop' in fault && fault.drop === 'before') throw broken();
    if ('hang' in fault && fault.hang === 'before') return this.#hang(request);
    if ('delay' in fault && fault.when === 'before') await this.#pass(fault.delay, request.signal);
    return undefined;
  }

  async #after(fault: Fault, request: HttpRequest, record: RequestInfo): Promise<void> {
    if ('duplicate' in fault && record.verb !== 'watch') await this.#send(request, record);
    if ('drop' in fault && fault.drop === 'after') throw broken();
    if ('hang' in fault && fault.hang === 'after') await this.#hang(request);
    if ('delay' in fault && fault.when === 'after') await this.#pass(fault.delay, request.signal);
  }

  async #send(request: HttpRequest, record: RequestInfo): Promise<HttpResponse> {
    const { handler, faults } = this.#options;
    if (record.verb !== 'watch') return handler(request);
    const { controller, hangUp } = this.#linkSignals(request.signal);
    const response = await withoutWatchTimeout(handler)({ ...request, signal: controller.signal });
    if (response.body instanceof Uint8Array) return response;
    return { ...response, body: faults.streams.tap(response.body, hangUp) };
  }

  /** An abort controller that is linked to the request and to the process. */
  #linkSignals(signal: AbortSignal | undefined): { controller: AbortController; hangUp: () => void } {
    const controller = new AbortController();
    const hangUp = () => {
      controller.abort();
      signal?.removeEventListener('abort', hangUp);
      this.#connection.signal.removeEventListener('abort', hangUp);
    };
    signal?.addEventListener('abort', hangUp);
    this.#connection.signal.addEventListener('abort', hangUp);
    return { controller, hangUp };
  }

  async #pass(length: Millis, signal: AbortSignal | undefined): Promise<void> {
    this.#waiting++;
    await sleep(this.#options.clock, length, signal);
    this.#waiting--;
    if (signal?.aborted) throw broken();
  }

  /** Waits until the caller gives up. */
  #hang(request: HttpRequest): Promise<never> {
    this.#waiting++;
    return new Promise((_resolve, reject) => {
      request.signal?.addEventListener('abort', () => {
        this.#waiting--;
        reject(broken());
      });
    });
  }
}

const broken = () => new TransportError('broken', 'the connection broke', { sent: true });

const REASONS: Readonly<Record<number, string>> = {
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

function refusal(fault: Extract<Fault, { answer: number }>): HttpResponse {
  const { answer: code, reason = REASONS[code] ?? 'Unknown', message = 'injected by the simulation' } = fault;
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    details: code === 409 ? { name: 'injected' } : {},
    code,
  };
  return {
    status: code,
    headers: {
      'content-type': 'application/json',
      ...(fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) }),
    },
    body: Buffer.from(JSON.stringify(status)),
  };
}

function readVersion(record: RequestRecord, { body }: HttpResponse): void {
  if (!(body instanceof Uint8Array)) return;
  const found = /"resourceVersion":\s*"(\d+)"/.exec(Buffer.from(body).toString());
  if (found !== null) record.resourceVersion = found[1]!;
}

function readRefusal(record: RequestRecord, { body }: HttpResponse): void {
  if (!(body instanceof Uint8Array)) return;
  try {
    const status: unknown = JSON.parse(Buffer.from(body).toString());
    if (!isObject(status)) return;
    if (typeof status.reason === 'string') record.reason = status.reason;
    if (typeof status.message === 'string') record.message = status.message;
  } catch {
    // The body is not a Status. The status code is enough.
  }
}
