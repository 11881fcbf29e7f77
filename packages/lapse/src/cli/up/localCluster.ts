// What `lapse up` adds to the embedded API server: all controllers, the simulated controllers, and a timeline of
// their actions.

import type { ApiServer } from '@lapse/apiserver/server';
import type { Clock } from '@lapse/base/clock';
import { type Instant, type Millis, millis, minus } from '@lapse/base/instant';
import type { Log } from '@lapse/base/log';
import type { Random } from '@lapse/base/random';
import type { HttpHandler } from '@lapse/kube/api/http';
import type { JsonObject } from '@lapse/kube/api/json';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import type { CustomKind } from '@lapse/kube/api/kinds/customKind';
import { type Client, createClient } from '@lapse/kube/client/client';
import { bearer, type Credentials, fixedCredentials } from '@lapse/kube/client/credentials';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import type { Transport } from '@lapse/kube/client/transport';
import type { FirstDeadline } from '@lapse/runtime/controller';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import { EventSender } from '@lapse/runtime/events/outbox';
import { countInFlight } from '@lapse/runtime/inFlight';
import { keyText } from '@lapse/runtime/interner';
import { Manager, type ManagerOptions } from '@lapse/runtime/manager';
import { Registry } from '@lapse/runtime/metrics/registry';
import { waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileRecord } from '@lapse/runtime/worker';
import type { Change } from '@lapse/simulation/history';
import { settle } from '@lapse/simulation/idle';
import { TimelineWriter } from '@lapse/simulation/timelineWriter';
import { withoutWatchTimeout } from '@lapse/simulation/withoutWatchTimeout';
import type { Actor } from '@lapse/simulation/writers';
import type { Family } from '#controllers/family';
import { Attribution } from '#forecast/simulate/attribution';
import { type Assembly, assemble } from '#manager/assemble';
import type { General } from '#manager/configuration/general';
import { recordInstallation } from '#manager/configuration/installation';
import { applyCrds, kindsOf } from '#manager/crds';
import { Follower } from './follower.ts';
import { KeyOwners } from './keyOwners.ts';
import type { LiveTimeline } from './liveTimeline.ts';
import { applyPolicies } from './policies.ts';
import { type Overview, Tally, type UpcomingEvents } from './tally.ts';
import { familiesWithForecast, findUpcomingEvents } from './upcomingEvents.ts';

export interface LocalClusterOptions {
  readonly general: General;
  readonly document: JsonObject;
  /** The configuration as a file, for read-only commands on this cluster. */
  readonly settings?: string;
  readonly known: readonly Family[];
  readonly selected: readonly Family[];
  readonly simulatedControllers: readonly ControllerDefinition[];
  /** CRDs that clusters usually have and a bare API server lacks. */
  readonly externalKinds: readonly CustomKind[];
  readonly timeline: LiveTimeline;
  readonly clock: Clock;
  /** The clock is not the real one: watches have no timeout and no bookmarks, which would only cost time. */
  readonly isPaced?: boolean;
  /** Waits shorter than this are not shown. */
  readonly blink?: Millis;
  readonly random: Random;
  readonly log: Log;
}

/** A slow external watch client must not stop the time. */
const MOST_TURNS = 20_000;

/** How controllers list and watch. */
type Watching = Pick<ManagerOptions, 'listBy' | 'bookmarks'>;

export class LocalCluster {
  /** The client of a user. */
  readonly user: Client;
  readonly assembly: Assembly;
  readonly #options: LocalClusterOptions;
  readonly #simulatedControllers: Manager;
  readonly #follower: Follower;
  readonly #tally: Tally;
  readonly #admin: Client;
  readonly #handle: HttpHandler;
  readonly #credentials: Credentials;
  readonly #writer: TimelineWriter;
  readonly #attribution = new Attribution();
  readonly #keyOwners = new KeyOwners();
  readonly #inFlight: (() => number)[] = [];
  /** Counts everything that happened. */
  #reconciles = 0;
  #known: { readonly reconciles: number; readonly upcoming: UpcomingEvents } | undefined;

  /** `handle` is the handler of the API server, `token` that of its administrator. */
  constructor(handle: HttpHandler, token: string, options: LocalClusterOptions) {
    const { clock, timeline, isPaced = false } = options;
    this.#options = options;
    this.#handle = handle;
    this.#credentials = fixedCredentials({ headers: bearer(token) });
    this.#writer = new TimelineWriter(
      timeline,
      () => clock.now(),
      (controller) => this.#keyOwners.kindOf(controller),
      'every wait',
    );
    this.#tally = new Tally({
      clock,
      refOf: (controller, key) => this.#keyOwners.refOf(controller, key),
      familyOf: (controller) => this.#keyOwners.familyOf(controller),
      deedOf: (change) => this.#attribution.of(change),
    });
    this.#admin = this.#client(handle, 'lapse');
    const watching = isPaced ? ({ listBy: 'pages', bookmarks: false } as const) : {};
    this.#follower = new Follower({
      client: this.#admin,
      clock,
      random: options.random,
      ...watching,
      onWrite: (request) => this.#attribution.request(request),
      onChange: (change) => this.#recordChange(change),
    });
    this.user = this.#client(this.#seenAs('user'), 'lapse-up');
    this.assembly = this.#assemble(watching);
    this.#simulatedControllers = this.#createSimulatedControllers(watching);
    for (const { family, controllers } of this.assembly.families)
      for (const definition of controllers)
        this.#keyOwners.controller(definition.name, family.name, definition.for);
  }

  #assemble(watching: Watching): Assembly {
    const transport = this.#transport(this.#seenAs('process'));
    const credentials = this.#credentials;
    return assemble({
      ...this.#options,
      selected: this.#options.selected.map((family) => this.#attribution.around(family)),
      connection: { transport, leaseTransport: transport, credentials, namespace: 'default' },
      identity: 'lapse-up',
      onReconcile: (record) => this.#recordReconcile(record),
      managing: { ...watching, onFirstDeadline: (deadline) => this.#recordFirstDeadline(deadline) },
    });
  }

  #createSimulatedControllers(watching: Watching): Manager {
    const { clock, random, log, simulatedControllers } = this.#options;
    const shared = { clock, random, log: log.with({ simulated: true }), registry: new Registry() };
    const client = this.#client(this.#seenAs('simulated controller'), 'simulated-controllers');
    return new Manager({
      ...shared,
      ...watching,
      client,
      controllers: simulatedControllers,
      events: new EventSender({ ...shared, client, instance: 'simulated-controllers' }),
    });
  }

  /** The API server's handler; the timeline attributes its requests to the actor. */
  #seenAs(actor: Actor): HttpHandler {
    return this.#follower.around(actor, this.#handle);
  }

  #transport(via: HttpHandler): Transport {
    const { isPaced = false } = this.#options;
    const counted = countInFlight(inProcessTransport(isPaced ? withoutWatchTimeout(via) : via));
    this.#inFlight.push(counted.inFlight);
    return counted.transport;
  }

  #client(via: HttpHandler, fieldManager: string): Client {
    const { clock, random } = this.#options;
    const credentials = this.#credentials;
    return createClient({ transport: this.#transport(via), clock, random, credentials, fieldManager });
  }

  #recordReconcile(record: ReconcileRecord & { readonly controller: string }): void {
    const { clock, timeline, blink = millis(0) } = this.#options;
    this.#reconciles++;
    this.#tally.reconcile(record);
    const about = this.#keyOwners.objectOf(record.controller, record.key);
    // The timeline shows a controller without a kind by its name.
    const shown = about === undefined ? {} : { controller: about.kind, key: keyText(about.key) };
    const write = () => this.#writer.reconcile({ ...record, ...shown, at: clock.now() });
    if (isOverAtOnce(record, clock.now(), blink)) timeline.without('waiting', write);
    else write();
  }

  /** The deadline of an object that was not reconciled yet is its TTL. */
  #recordFirstDeadline({ at, ...of }: FirstDeadline): void {
    const now = this.#options.clock.now();
    const outcome = waitUntil(at, 'ttl');
    this.#recordReconcile({ ...of, reason: 'listed', now, outcome, took: millis(0) });
  }

  #recordChange(change: Change): void {
    this.#reconciles++;
    this.#keyOwners.seen(change);
    if (change.kind === CustomResourceDefinition.kind) this.#admin.discovery.invalidate();
    this.#tally.change(change);
    if (change.by === 'process') this.#writer.change(change);
    else this.#options.timeline.without('states', () => this.#writer.change(change));
  }

  /** The handler for external clients. */
  get handle(): HttpHandler {
    const seen = this.#follower.around('user', this.#handle);
    return this.#options.isPaced === true ? withoutWatchTimeout(seen) : seen;
  }

  /** First CRDs, then admission (policies and functions of the controllers), then the controllers. */
  async start(server: Pick<ApiServer, 'admit'>): Promise<void> {
    const { clock, log, selected, externalKinds, settings } = this.#options;
    const foreign = await applyCrds(this.#admin, clock, [...kindsOf(selected), ...externalKinds]);
    if (settings !== undefined) await recordInstallation(this.#admin, settings);
    if (foreign.length > 0) log.warn({ foreign }, 'definitions that are not ours were left alone');
    await applyPolicies(this.#admin, selected, this.assembly.services.isEnabled);
    for (const { admission } of this.assembly.families) for (const fn of admission) server.admit(fn);
    this.#simulatedControllers.start();
    this.assembly.manager.start();
  }

  /** Resolves when nothing happens until time passes or an external client acts. */
  async rest(server: Pick<ApiServer, 'undelivered'>): Promise<void> {
    const requests = () => this.#inFlight.reduce((sum, count) => sum + count(), 0);
    const own = () => ({
      reconciles: 0,
      ready: 0,
      events: 0,
      caches: this.#follower.busy,
      requests: requests(),
    });
    const still = {
      activities: () => [this.assembly.manager.activity(), this.#simulatedControllers.activity(), own()],
      undelivered: server.undelivered,
      progress: () => this.#reconciles + requests(),
    };
    await settle(still, MOST_TURNS).catch(() => {});
  }

  async overview(): Promise<Overview> {
    return this.#tally.overview(await this.#upcoming());
  }

  /** The result in one line. */
  async summary(stamp: (at: Instant) => string): Promise<string> {
    return this.#tally.text(stamp, await this.#upcoming());
  }

  /** The forecast is reused as long as nothing changes. */
  async #upcoming(): Promise<UpcomingEvents> {
    const reconciles = this.#reconciles;
    if (this.#known?.reconciles === reconciles) return this.#known.upcoming;
    const { clock, general, document, known, selected, log } = this.#options;
    const asking = { general, document, known, selected };
    try {
      const ahead = await findUpcomingEvents({ ...asking, client: this.#admin, now: clock.now() });
      this.#known = { reconciles, upcoming: { ahead, families: familiesWithForecast(selected) } };
    } catch (error) {
      // The view keeps the last forecast, or shows the waits of reconciles.
      log.debug({ error }, 'forecast failed');
    }
    return this.#known?.upcoming ?? { ahead: [], families: new Set() };
  }

  async stop(): Promise<void> {
    await Promise.all([this.assembly.manager.stop(), this.#simulatedControllers.stop()]);
    await this.#follower.close();
  }
}

const isOverAtOnce = ({ outcome }: ReconcileRecord, now: Instant, blink: Millis): boolean =>
  outcome.kind === 'waitUntil' && minus(outcome.at, now) < blink;
