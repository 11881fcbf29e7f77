// An in-process cluster with RBAC, and `lapse run` in it as a service account with exactly the given roles. Everything
// uses one virtual clock.

import { type ApiServer, createServer } from '@lapse/apiserver/server';
import { type Millis, millis } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { VirtualClock } from '@lapse/base/virtualClock';
import type { HttpHandler } from '@lapse/kube/api/http';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Client, createClient } from '@lapse/kube/client/client';
import { bearer, fixedCredentials } from '@lapse/kube/client/credentials';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { KubeEvent } from '@lapse/runtime/events/build';
import { STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import { Faults } from '@lapse/simulation/faults';
import { settle } from '@lapse/simulation/idle';
import { SimulatedControllerManager } from '@lapse/simulation/simulatedControllerManager';
import { createUserClient, type UserClient } from '@lapse/simulation/userClient';
import type { RequestRecord } from '@lapse/simulation/wire';
import type { Installation } from 'lapse/cli/manifests/installation';
import type { Family } from 'lapse/controllers/family';
import { FAMILIES } from 'lapse/controllers/registry';
import { kindsOf } from 'lapse/manager/crds';
import { storageControllers } from '../requests/deckhouseProvisioner.ts';
import { NAMESPACE } from './installation.ts';
import { Process } from './process.ts';
import { namespaceOf, refusedOf } from './rightsCase.ts';
import { ADMIN, OWN, users } from './users.ts';

export interface WorldOptions {
  readonly installation: Installation;
  /** The account and its roles. */
  readonly access: readonly KubeObject[];
  /** Names of simulated controllers. */
  readonly simulatedControllers?: readonly string[];
  /** The values of the chart's `config`. */
  readonly configuration?: JsonObject;
  /** Families whose kinds are served in addition to those of the installation. */
  readonly kinds?: readonly Family[];
}

const asAdministrator =
  (handle: HttpHandler): HttpHandler =>
  (request) =>
    handle({ ...request, headers: { ...request.headers, ...(bearer(ADMIN) as Record<string, string>) } });

export class World {
  readonly clock: VirtualClock;
  readonly faults = new Faults();
  /** Acts as the administrator. */
  readonly userClient: UserClient;
  /** Requests of the process, over all of its runs. */
  readonly requests: RequestRecord[] = [];
  readonly #client: Client;
  readonly #server: ApiServer;
  readonly #options: WorldOptions;
  readonly #random = seededRandom(3);
  readonly #simulatedControllers: SimulatedControllerManager;
  #process: Process | undefined;
  #lives = 0;
  #progress = 0;

  constructor(clock: VirtualClock, server: ApiServer, options: WorldOptions) {
    this.clock = clock;
    this.#server = server;
    this.#options = options;
    const handler = asAdministrator(server.handle);
    this.#client = createClient({
      transport: inProcessTransport(server.handle),
      clock,
      random: this.#random,
      flow: 'none',
      credentials: fixedCredentials({ headers: bearer(ADMIN) }),
    });
    this.userClient = createUserClient(this.#client);
    this.#simulatedControllers = new SimulatedControllerManager(
      storageControllers(options.simulatedControllers ?? []),
      {
        handler,
        clock,
        random: seededRandom(4),
      },
    );
  }

  /** For open(). */
  async furnish(): Promise<void> {
    const { installation, access, kinds = [] } = this.#options;
    const families = FAMILIES.filter(({ name }) => installation.controllers.includes(name));
    await this.apply(
      [...kindsOf([...families, ...kinds]), ...STOCK_SNAPSHOT_KINDS].map(({ crd }) => crd as KubeObject),
    );
    await this.apply([namespaceOf(NAMESPACE), ...access]);
    await this.#simulatedControllers.start();
    await this.settle();
  }

  get installation(): Installation {
    return this.#options.installation;
  }

  /** The process that is running. */
  get process(): Process {
    if (this.#process === undefined) throw new Error('no process runs');
    return this.#process;
  }

  async start(): Promise<void> {
    const { installation, configuration = {} } = this.#options;
    this.#process = new Process({
      server: this.#server,
      clock: this.clock,
      random: this.#random,
      faults: this.faults,
      installation,
      configuration,
      token: OWN,
      identity: `life-${++this.#lives}`,
      onRequest: (record) => this.requests.push(record),
      onProgress: () => this.#progress++,
    });
    this.#process.start();
    await this.settle();
  }

  crash(): void {
    this.#process?.kill();
    this.#process = undefined;
  }

  async apply(manifests: Parameters<UserClient['apply']>[0]): Promise<void> {
    await this.userClient.apply(manifests);
    await this.settle();
  }

  settle = (): Promise<void> => this.clock.advance(millis(0), this.#rest);

  timePasses = (length: Millis): Promise<void> => this.clock.advance(length, this.#rest);

  events = async (): Promise<KubeEvent[]> => (await this.#client.list(KubeEvent)).items;

  /** Requests of the process that were refused for a missing right. */
  refused = (): string[] => refusedOf(this.requests);

  async close(): Promise<void> {
    this.faults.heal();
    this.crash();
    const stopped = this.#simulatedControllers.stop();
    await this.clock.advance(millis(60_000), this.#rest);
    await stopped;
    await this.#server.close();
  }

  #rest = (): Promise<void> =>
    settle({
      activities: () => [
        ...this.#simulatedControllers.activities(),
        ...(this.#process === undefined ? [] : [this.#process.activity]),
      ],
      undelivered: () => this.#server.undelivered(),
      progress: () => this.#progress + this.requests.length + this.#simulatedControllers.reconciles,
    });
}

export async function openWorld(options: WorldOptions): Promise<World> {
  const clock = new VirtualClock();
  const server = await createServer({
    clock,
    random: seededRandom(2),
    authenticator: users,
    authorization: 'RBAC',
  });
  const world = new World(clock, server, options);
  await world.furnish();
  return world;
}
