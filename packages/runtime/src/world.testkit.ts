// Test fixture: the embedded API server, a user's client, and a manager with controllers, all on one virtual clock.

import { type ApiServer, createServer } from '@lapse/apiserver/server';
import { type Instant, type Millis, millis, minus } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { nextTurn } from '@lapse/base/turn';
import { VirtualClock } from '@lapse/base/virtualClock';
import type { HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import { defineKind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { type ClientOptions, createClient } from '@lapse/kube/client/client';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { isIdle } from './activity.ts';
import { type ControllerDefinition, defineController } from './definition.ts';
import { countInFlight } from './inFlight.ts';
import { Manager, type ManagerOptions } from './manager.ts';
import type { ReconcileRecord } from './worker.ts';

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}
export const ConfigMap = defineKind<ConfigMap>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  resource: 'configmaps',
  namespaced: true,
});
export interface Secret extends KubeObject {
  data?: Record<string, string>;
}
export const Secret = defineKind<Secret>({
  group: '',
  version: 'v1',
  kind: 'Secret',
  resource: 'secrets',
  namespaced: true,
});

export const configMap = (
  name: string,
  data: Record<string, string> = {},
  more: Partial<KubeObject['metadata']> = {},
): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...more },
  data,
});

/** An injected response or fault. Undefined lets the request through. */
type Disturbance = HttpResponse | 'hang' | 'loseAnswer' | undefined;
/** Called before each request is handled. A returned promise is awaited first. */
export type Interference = (request: HttpRequest) => Disturbance | Promise<Disturbance>;

export interface WorldOptions extends Partial<Omit<ManagerOptions, 'clock' | 'random' | 'client'>> {
  readonly seed?: number;
  readonly client?: Partial<ClientOptions>;
}

export class World {
  readonly clock = new VirtualClock();
  readonly start: Instant = this.clock.now();
  readonly requests: string[] = [];
  readonly reconciles: (ReconcileRecord & { controller: string })[] = [];
  readonly server: ApiServer;
  /** A user's client, without faults and rate limits. */
  readonly user;
  readonly manager: Manager;
  readonly client;
  interfere: Interference = () => undefined;
  #held: PromiseWithResolvers<void> | undefined;

  constructor(server: ApiServer, clock: VirtualClock, options: WorldOptions) {
    const { seed = 1, client = {}, ...managerOptions } = options;
    this.clock = clock;
    this.start = clock.now();
    this.server = server;
    const random = seededRandom(seed);
    this.user = createClient({ transport: inProcessTransport(server.handle), clock, random, flow: 'none' });
    const counted = countInFlight(inProcessTransport((request) => this.#handle(request)));
    this.client = createClient({ transport: counted.transport, clock, random, flow: 'none', ...client });
    this.manager = new Manager({
      clock,
      random,
      client: this.client,
      controllers: [],
      freeze: true,
      inFlight: counted.inFlight,
      onReconcile: (record) => this.reconciles.push(record),
      ...managerOptions,
    });
  }

  /** Waits until the manager is idle and the server has delivered all events. */
  readonly settle = async (): Promise<void> => {
    for (let idleTurns = 0, turns = 0; idleTurns < 4; turns++) {
      if (turns > 100_000) throw new Error(`never idle: ${JSON.stringify(this.manager.activity())}`);
      await nextTurn();
      idleTurns = isIdle(this.manager.activity()) && this.server.undelivered() === 0 ? idleTurns + 1 : 0;
    }
  };
  readonly pass = (length: number): Promise<void> => this.clock.advance(length as Millis, this.settle);
  /** Milliseconds since the start of the test. */
  since = (at: Instant = this.clock.now()): Millis => minus(at, this.start);
  /** `+milliseconds key outcome` for each reconcile. */
  timeline = (): string[] =>
    this.reconciles.map(({ key, now, outcome }) => `+${this.since(now)} ${key} ${outcome.kind}`);

  async close(): Promise<void> {
    const stopped = this.manager.stop();
    await this.clock.advance(millis(60_000), nextTurn);
    await stopped;
    await this.server.close();
  }

  async #handle(request: HttpRequest): Promise<HttpResponse> {
    this.requests.push(`${request.method} ${request.path}`);
    // A synchronous interference does not cost an event loop turn.
    const asked = this.interfere(request);
    const answer = asked instanceof Promise ? await asked : asked;
    if (answer === 'hang') return new Promise(() => {});
    if (answer === 'loseAnswer') {
      await this.server.handle(request);
      throw new Error('the connection was lost');
    }
    const response = answer ?? (await this.server.handle(request));
    return response.body instanceof Uint8Array
      ? response
      : { ...response, body: this.#holdable(response.body) };
  }

  /** Holds watch events back until `releaseEvents`, so that the caches are stale. */
  holdEvents(): void {
    this.#held ??= Promise.withResolvers<void>();
  }
  releaseEvents(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  async *#holdable(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      while (this.#held !== undefined) await this.#held.promise;
      yield chunk;
    }
  }

  /** Requests that change something. */
  writes = (): string[] => this.requests.filter((r) => !r.startsWith('GET '));
}

export async function world(options: WorldOptions = {}): Promise<World> {
  const clock = new VirtualClock();
  const server = await createServer({ clock, random: seededRandom(99) });
  return new World(server, clock, options);
}

/** Runs a test in a new World and always closes it. */
export const inWorld =
  (options: WorldOptions, test: (world: World) => Promise<void>) => async (): Promise<void> => {
    const made = await world(options);
    try {
      await test(made);
    } finally {
      await made.close();
    }
  };

export const refuse = (
  code: number,
  reason: string,
  message = 'injected',
  details?: object,
): HttpResponse => ({
  status: code,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(
    JSON.stringify({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason,
      details,
      code,
    }),
  ),
});

/** A controller for ConfigMaps with the given reconcile function. */
export const configMapController = (
  reconcile: ControllerDefinition['reconcile'],
  more: Partial<ControllerDefinition<ConfigMap>> = {},
): ControllerDefinition =>
  defineController<ConfigMap>({
    name: 'test',
    for: ConfigMap,
    namespace: 'default',
    reconcile,
    ...more,
  }) as ControllerDefinition;

export const namedController = (
  name: string,
  reconcile: ControllerDefinition['reconcile'],
  more: Partial<ControllerDefinition> = {},
): ControllerDefinition =>
  configMapController(reconcile, { name, ...more } as Partial<ControllerDefinition<ConfigMap>>);
