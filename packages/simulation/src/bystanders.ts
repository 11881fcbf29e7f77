// The stand-ins: ordinary controllers on the server's clock, without faults. They never crash, and what they write is not
// counted as the process's. One that is for a kind that nobody serves begins when the kind is defined: until then it would
// only ask for it again and again, every few (virtual) seconds.

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
import { lasting } from './lasting.ts';

export interface BystandersOptions {
  readonly handler: HttpHandler;
  readonly clock: Clock;
  readonly random: Random;
}

/** What cannot be done is tried again every hour: in a year of virtual time every minute would be half a million times. */
const patient = (definition: ControllerDefinition): ControllerDefinition => ({
  ...definition,
  retry: { failure: { first: millis(5), max: hours(1) }, ...definition.retry },
});

export class Bystanders {
  readonly #options: BystandersOptions;
  readonly #client: Client;
  readonly #counted: Counted;
  readonly #managers: Manager[] = [];
  #waiting: readonly ControllerDefinition[];
  #looking = 0;
  #passes = 0;
  #stopped = false;
  #started = false;

  constructor(controllers: readonly ControllerDefinition[], options: BystandersOptions) {
    const { handler, clock, random } = options;
    this.#options = options;
    this.#waiting = controllers.map(patient);
    this.#counted = countInFlight(inProcessTransport(lasting(handler)));
    const { transport } = this.#counted;
    this.#client = createClient({ transport, clock, random, flow: 'none', fieldManager: 'stand-ins' });
  }

  /** Passes so far. */
  get passes(): number {
    return this.#passes;
  }

  /** Of everybody here, and of `process` if it runs. */
  activities(process?: Manager): readonly Activity[] {
    const requests = this.#counted.inFlight() + this.#looking;
    const own = { passes: 0, ready: 0, caches: 0, events: 0, requests };
    const managers = process === undefined ? this.#managers : [process, ...this.#managers];
    return [own, ...managers.map((manager) => manager.activity())];
  }

  /** A definition may be what somebody waits for. */
  change({ resource }: Change): void {
    if (resource === 'customresourcedefinitions' && this.#started) void this.start();
  }

  /** Starts those whose kinds are served. */
  async start(): Promise<void> {
    this.#started = true;
    if (this.#waiting.length === 0) return;
    this.#looking++;
    try {
      this.#client.discovery.invalidate();
      const all = await this.#client.discovery.all();
      const served = new Set(all.map(({ group, version, resource }) => `${group}/${version}/${resource}`));
      const can = (definition: ControllerDefinition) =>
        sourcesOf(definition).every(({ kind }) =>
          served.has(`${kind.group}/${kind.version}/${kind.resource}`),
        );
      const now = this.#waiting.filter(can);
      if (now.length === 0 || this.#stopped) return;
      this.#waiting = this.#waiting.filter((definition) => !now.includes(definition));
      this.#begin(now);
    } finally {
      this.#looking--;
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
      events: new EventSender({ client, clock, random, registry, log: silentLog, instance: 'stand-ins' }),
      listBy: 'pages',
      bookmarks: false,
      freeze: true,
      onPass: () => {
        this.#passes++;
      },
    });
    this.#managers.push(manager);
    manager.start();
  }
}
