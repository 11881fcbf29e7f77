// Runs the simulated controllers: ordinary controllers on the server's clock, without faults and crashes. Their writes do
// not count as writes of the process under test. A controller for a kind that is not served starts when its CRD is
// created; until then it would retry every few (virtual) seconds.

import type { Clock } from '@lapse/base/clock';
import { hours, millis } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import type { Random } from '@lapse/base/random';
import type { HttpHandler } from '@lapse/kube/api/http';
import { type Client, createClient } from '@lapse/kube/client/client';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import type { Activity } from '@lapse/runtime/activity';
import { type ControllerDefinition, sourcesOf } from '@lapse/runtime/definition';
import { EventSender } from '@lapse/runtime/events/outbox';
import { type Counted, countInFlight } from '@lapse/runtime/inFlight';
import { Manager } from '@lapse/runtime/manager';
import { Registry } from '@lapse/runtime/metrics/registry';
import type { Change } from './history.ts';
import { withoutWatchTimeout } from './withoutWatchTimeout.ts';

export interface SimulatedControllerManagerOptions {
  readonly handler: HttpHandler;
  readonly clock: Clock;
  readonly random: Random;
}

/** Retries failures up to every hour. In a year of virtual time, a retry every minute would run half a million times. */
const withSlowRetries = (definition: ControllerDefinition): ControllerDefinition => ({
  ...definition,
  retry: { failure: { first: millis(5), max: hours(1) }, ...definition.retry },
});

export class SimulatedControllerManager {
  readonly #options: SimulatedControllerManagerOptions;
  readonly #client: Client;
  readonly #counted: Counted;
  readonly #managers: Manager[] = [];
  #waiting: readonly ControllerDefinition[];
  #discovering = 0;
  #reconciles = 0;
  #stopped = false;
  #started = false;

  constructor(controllers: readonly ControllerDefinition[], options: SimulatedControllerManagerOptions) {
    const { handler, clock, random } = options;
    this.#options = options;
    this.#waiting = controllers.map(withSlowRetries);
    this.#counted = countInFlight(inProcessTransport(withoutWatchTimeout(handler)));
    const { transport } = this.#counted;
    this.#client = createClient({
      transport,
      clock,
      random,
      flow: 'none',
      fieldManager: 'simulated-controllers',
    });
  }

  /** Number of reconciles so far. */
  get reconciles(): number {
    return this.#reconciles;
  }

  /** The activities of all simulated controllers, and of `process` if it runs. */
  activities(process?: Manager): readonly Activity[] {
    const requests = this.#counted.inFlight() + this.#discovering;
    const own = { reconciles: 0, ready: 0, caches: 0, events: 0, requests };
    const managers = process === undefined ? this.#managers : [process, ...this.#managers];
    return [own, ...managers.map((manager) => manager.activity())];
  }

  /** A new CRD may serve the kind that a controller waits for. */
  change({ resource }: Change): void {
    if (resource === 'customresourcedefinitions' && this.#started) void this.start();
  }

  /** Starts the controllers whose kinds are served. */
  async start(): Promise<void> {
    this.#started = true;
    if (this.#waiting.length === 0) return;
    this.#discovering++;
    try {
      this.#client.discovery.invalidate();
      const all = await this.#client.discovery.all();
      const served = new Set(all.map(({ group, version, resource }) => `${group}/${version}/${resource}`));
      const isServed = (definition: ControllerDefinition) =>
        sourcesOf(definition).every(({ kind }) =>
          served.has(`${kind.group}/${kind.version}/${kind.resource}`),
        );
      const startable = this.#waiting.filter(isServed);
      if (startable.length === 0 || this.#stopped) return;
      this.#waiting = this.#waiting.filter((definition) => !startable.includes(definition));
      this.#begin(startable);
    } finally {
      this.#discovering--;
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#managers.map((manager) => manager.stop()));
  }

  #begin(controllers: readonly ControllerDefinition[]): void {
    const { clock, random } = this.#options;
    const client = this.#client;
    const registry = new Registry();
    const manager = new Manager({
      clock,
      random,
      client,
      registry,
      controllers,
      events: new EventSender({
        client,
        clock,
        random,
        registry,
        log: silentLog,
        instance: 'simulated-controllers',
      }),
      listBy: 'pages',
      bookmarks: false,
      freeze: true,
      onReconcile: () => {
        this.#reconciles++;
      },
    });
    this.#managers.push(manager);
    manager.start();
  }
}
