// One run of `lapse run` in this process, on a virtual clock: composed as the command does, with the configuration of
// the chart, except that admission reviews are sent without a socket.

import type { ApiServer } from '@lapse/apiserver/server';
import { silentLog } from '@lapse/base/log';
import type { Random } from '@lapse/base/random';
import type { VirtualClock } from '@lapse/base/virtualClock';
import type { JsonObject } from '@lapse/kube/api/json';
import { bearer, fixedCredentials } from '@lapse/kube/client/credentials';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import type { Activity } from '@lapse/runtime/activity';
import { openSelfManaged, type SelfManagedCertificate } from '@lapse/runtime/host/selfManaged';
import { countInFlight } from '@lapse/runtime/inFlight';
import type { Faults } from '@lapse/simulation/faults';
import { SkewedClock } from '@lapse/simulation/skewedClock';
import { type RequestRecord, Wire } from '@lapse/simulation/wire';
import { configurationOf, type Installation } from 'lapse/cli/manifests/installation';
import { FAMILIES } from 'lapse/controllers/registry';
import { type Assembly, assemble } from 'lapse/manager/assemble';
import { readGeneral } from 'lapse/manager/configuration/general';
import { loadConfiguration } from 'lapse/manager/configuration/load';
import { overlay } from 'lapse/manager/configuration/values';

export interface ProcessOptions {
  readonly server: ApiServer;
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly faults: Faults;
  readonly installation: Installation;
  /** The values of the chart's `config`. */
  readonly configuration: JsonObject;
  readonly token: string;
  /** Differs from that of any other run. */
  readonly identity: string;
  readonly onRequest: (record: RequestRecord) => void;
  /** Something changed. */
  readonly onProgress: () => void;
}

export class Process {
  readonly #assembly: Assembly;
  readonly #clock: SkewedClock;
  readonly #wire: Wire;
  readonly #options: ProcessOptions;
  readonly #leave: (() => void)[];

  constructor(options: ProcessOptions) {
    const { server, faults, clock, installation, random, token, identity, onRequest, onProgress } = options;
    this.#options = options;
    this.#clock = new SkewedClock(clock);
    this.#wire = new Wire({ handler: server.handle, faults, clock, onRequest, onAnswer: onProgress });
    const wire = this.#wire;
    const counted = countInFlight(inProcessTransport(wire.handle));
    const { transport } = counted;
    const defaults = overlay(configurationOf(installation), options.configuration);
    const document = loadConfiguration(FAMILIES, { flags: {}, environment: {}, defaults });
    this.#assembly = assemble({
      connection: {
        transport,
        leaseTransport: transport,
        credentials: fixedCredentials({ headers: bearer(token) }),
        namespace: installation.namespace,
      },
      general: readGeneral(document),
      document,
      known: FAMILIES,
      selected: FAMILIES.filter(({ name }) => installation.controllers.includes(name)),
      clock: this.#clock,
      random,
      log: silentLog,
      identity,
      onReconcile: onProgress,
      managing: { listBy: 'pages', bookmarks: false, inFlight: () => counted.inFlight() - wire.waiting },
    });
    this.#leave = this.#assembly.families.flatMap(({ admission }) => admission).map((fn) => server.admit(fn));
  }

  get activity(): Activity {
    return this.#assembly.manager.activity();
  }

  start(): void {
    this.#assembly.manager.start();
  }

  /** The serving certificate of its webhooks, in a Secret and in the webhook configurations. */
  certify(hosts: readonly string[]): Promise<SelfManagedCertificate> {
    const { name, namespace } = this.#options.installation;
    return openSelfManaged({
      client: this.#assembly.services.client,
      clock: this.#clock,
      log: silentLog,
      hosts,
      configurations: [name],
      secret: { namespace, name: `${name}-webhook` },
    });
  }

  /** As by SIGKILL. */
  kill(): void {
    this.#wire.cut();
    this.#clock.switchOff();
    for (const leave of this.#leave) leave();
  }
}
