// One run of the process under test: its clock, connection, client and manager with its controllers. It ends with `stop`
// or `kill`.

import type { ApiServer } from '@lapse/apiserver/server';
import type { Clock } from '@lapse/base/clock';
import type { Log } from '@lapse/base/log';
import type { Random } from '@lapse/base/random';
import { type Client, type ClientOptions, createClient } from '@lapse/kube/client/client';
import { fixedCredentials, type Impersonation, impersonating } from '@lapse/kube/client/credentials';
import { createFlow } from '@lapse/kube/client/flow';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { createSkew, type Skew } from '@lapse/kube/client/skew';
import type { Transport } from '@lapse/kube/client/transport';
import type { DecisionTime } from '@lapse/runtime/decisionTime';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import { EventSender } from '@lapse/runtime/events/outbox';
import type { AdmissionFunction } from '@lapse/runtime/host/review';
import { countInFlight } from '@lapse/runtime/inFlight';
import { type Elector, Manager } from '@lapse/runtime/manager';
import { Registry } from '@lapse/runtime/metrics/registry';
import type { ReconcileRecord } from '@lapse/runtime/worker';
import type { SkewedClock } from './skewedClock.ts';
import type { Wire } from './wire.ts';

/** What a process provides to `compose`. */
export interface Process {
  readonly clock: Clock;
  readonly random: Random;
  readonly client: Client;
  readonly registry: Registry;
  readonly log: Log;
  /** Updated with every response of `client`. */
  readonly skew: Skew;
  /** A client that impersonates another user. */
  clientAs(who: Impersonation): Client;
}

export interface Composition {
  readonly controllers: readonly ControllerDefinition[];
  /** Active while the process runs. */
  readonly admission?: readonly AdmissionFunction[];
  /** Default: decisions use the clock of the process. */
  readonly time?: DecisionTime;
  /** All writes use dryRun. */
  readonly dryRun?: boolean;
}

export type Compose = (process: Process) => Composition;

/** The simulated leader election. The process leads until `set(false)`. */
class Leadership implements Elector {
  #on: { gained(): void; lost(): void } | undefined;
  #held = true;

  start(on: { gained(): void; lost(): void }): void {
    this.#on = on;
    if (this.#held) on.gained();
  }
  async stop(): Promise<void> {
    this.#on = undefined;
  }
  set(held: boolean): void {
    if (held === this.#held) return;
    this.#held = held;
    if (held) this.#on?.gained();
    else this.#on?.lost();
  }
}

export interface LifeOptions {
  readonly server: ApiServer;
  readonly clock: SkewedClock;
  readonly wire: Wire;
  readonly random: Random;
  readonly log: Log;
  readonly compose: Compose;
  readonly onReconcile: (record: ReconcileRecord & { readonly controller: string }) => void;
}

export class ProcessRun {
  readonly manager: Manager;
  readonly wire: Wire;
  readonly clock: SkewedClock;
  readonly leadership = new Leadership();
  readonly controllers: readonly ControllerDefinition[];
  readonly #leave: (() => void)[];

  constructor(options: LifeOptions) {
    const { server, clock, wire, random, log, compose, onReconcile } = options;
    this.wire = wire;
    this.clock = clock;
    const registry = new Registry();
    const skew = createSkew(clock);
    const flow = createFlow({ clock, random });
    const counted = countInFlight(inProcessTransport(wire.handle));
    const clientOf = (transport: Transport, more: Partial<ClientOptions> = {}): Client =>
      createClient({
        transport,
        clock,
        random,
        flow,
        observe: skew.observe,
        ...more,
      });
    const client = clientOf(counted.transport);
    const composition = compose({
      clock,
      random,
      client,
      registry,
      log,
      skew,
      clientAs: (who) =>
        clientOf(counted.transport, {
          credentials: impersonating(fixedCredentials({ headers: {} }), who),
          discovery: client.discovery,
        }),
    });
    const { controllers, admission = [], time, dryRun } = composition;
    this.controllers = controllers;
    this.#leave = admission.map((fn) => server.admit(fn));
    this.manager = new Manager({
      clock,
      random,
      client,
      registry,
      log,
      controllers,
      listBy: 'pages',
      bookmarks: false,
      freeze: true,
      enforceRights: true,
      inFlight: () => counted.inFlight() - wire.waiting,
      events: new EventSender({ client, clock, random, log, registry, instance: 'simulated' }),
      elector: this.leadership,
      onReconcile,
      ...(time === undefined ? {} : { time }),
      ...(dryRun === undefined ? {} : { dryRun }),
    });
  }

  start(): void {
    this.manager.start();
  }

  /** Like SIGTERM. */
  async stop(): Promise<void> {
    await this.manager.stop();
    this.kill();
  }

  /** Like SIGKILL: the server may handle sent requests, but the process receives no response. */
  kill(): void {
    this.wire.cut();
    this.clock.switchOff();
    for (const leave of this.#leave) leave();
  }
}
