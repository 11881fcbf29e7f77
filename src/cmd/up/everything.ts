// What `lapse up` adds to the embedded server: every controller, the stand-ins, and a timeline of what they do.

import type { HttpHandler } from '#api/http';
import type { JsonObject } from '#api/json';
import type { CustomKind } from '#api/kinds/customKind';
import type { ApiServer } from '#apiserver/server';
import type { Clock } from '#base/clock';
import type { Instant } from '#base/instant';
import type { Log } from '#base/log';
import type { Random } from '#base/random';
import { type Client, createClient } from '#client/client';
import { bearer, fixedCredentials } from '#client/credentials';
import { inProcessTransport } from '#client/inProcess';
import type { Family } from '#controllers/family';
import type { ControllerDefinition } from '#runtime/definition';
import { Manager } from '#runtime/manager';
import type { PassRecord } from '#runtime/worker';
import type { Actor } from '#sim/history';
import { Narrator } from '#sim/narrator';
import { type Assembly, assemble } from '../assemble.ts';
import type { General } from '../configuration/general.ts';
import { applyCrds, kindsOf } from '../crds.ts';
import { Follower } from './follower.ts';
import type { LiveTimeline } from './liveTimeline.ts';
import { Tally } from './tally.ts';

export interface EverythingOptions {
  readonly general: General;
  readonly document: JsonObject;
  readonly known: readonly Family[];
  readonly selected: readonly Family[];
  readonly standins: readonly ControllerDefinition[];
  /** Kinds that a cluster has and a bare API server lacks. */
  readonly externalKinds: readonly CustomKind[];
  readonly timeline: LiveTimeline;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export class Everything {
  /** A person's hands. */
  readonly user: Client;
  readonly assembly: Assembly;
  readonly #options: EverythingOptions;
  readonly #standins: Manager;
  readonly #follower: Follower;
  readonly #tally: Tally;
  readonly #admin: Client;
  readonly #handle: HttpHandler;

  /** `handle` is the server's own; `token` that of its administrator. */
  constructor(handle: HttpHandler, token: string, options: EverythingOptions) {
    const { clock, random, log, standins, timeline } = options;
    this.#options = options;
    this.#handle = handle;
    this.#tally = new Tally(clock);
    const credentials = fixedCredentials({ headers: bearer(token) });
    const client = (via: HttpHandler, name: string) =>
      createClient({ transport: inProcessTransport(via), clock, random, credentials, fieldManager: name });
    const kinds = new Map<string, ControllerDefinition['for']>();
    const now = () => clock.now();
    const narrator = new Narrator(timeline, now, (name) => kinds.get(name));
    const onPass = (record: PassRecord & { readonly controller: string }) => {
      this.#tally.pass(record);
      narrator.pass({ ...record, at: now() });
    };
    this.#admin = client(handle, 'lapse');
    this.#follower = new Follower({
      client: this.#admin,
      clock,
      random,
      onChange: (change) => {
        this.#tally.change(change);
        if (change.by === 'process') narrator.change(change);
        else timeline.withoutStates(() => narrator.change(change));
      },
    });
    const seen = (actor: Actor) => this.#follower.around(actor, handle);
    this.user = client(seen('user'), 'lapse-up');
    const transport = inProcessTransport(seen('process'));
    const wires = { transport, leaseTransport: transport, credentials, namespace: 'default' };
    this.assembly = assemble({ ...options, wires, identity: 'lapse-up', onPass });
    this.#standins = new Manager({
      clock,
      random,
      log: log.with({ standin: true }),
      client: client(seen('stand-in'), 'stand-ins'),
      controllers: standins,
    });
    for (const { controllers } of this.assembly.families)
      for (const definition of controllers) kinds.set(definition.name, definition.for);
  }

  /** For whoever comes through the socket. */
  get handle(): HttpHandler {
    return this.#follower.around('user', this.#handle);
  }

  /** Kinds first, then the say of the controllers on writes, then the controllers. */
  async start(server: Pick<ApiServer, 'admit'>): Promise<void> {
    const { clock, log, selected, externalKinds } = this.#options;
    const foreign = await applyCrds(this.#admin, clock, [...kindsOf(selected), ...externalKinds]);
    if (foreign.length > 0) log.warn({ foreign }, 'definitions that are not ours were left alone');
    for (const { admission } of this.assembly.families) for (const fn of admission) server.admit(fn);
    this.#standins.start();
    this.assembly.manager.start();
  }

  /** What came of it, in a line. */
  summary(stamp: (at: Instant) => string): string {
    return this.#tally.text(stamp);
  }

  async stop(): Promise<void> {
    await Promise.all([this.assembly.manager.stop(), this.#standins.stop()]);
    await this.#follower.close();
  }
}
