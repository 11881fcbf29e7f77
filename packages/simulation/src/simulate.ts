// A simulated cluster in one process: the embedded API server, simulated cluster controllers and the process under test,
// all on one virtual clock. The same seed gives the same history.

import { type ApiServer, createServer } from '@lapse/apiserver/server';
import { type Instant, type Millis, millis, plus } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import { type Random, seededRandom } from '@lapse/base/random';
import { VIRTUAL_START, VirtualClock } from '@lapse/base/virtualClock';
import { type Client, createClient } from '@lapse/kube/client/client';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import type { Registry } from '@lapse/runtime/metrics/registry';
import { type DoubleRun, runAgain } from './doubleRun.ts';
import { Faults } from './faults.ts';
import { type Change, History } from './history.ts';
import { settle } from './idle.ts';
import type { SimulationOptions } from './options.ts';
import { ProcessRun } from './process.ts';
import { isWrite } from './requestInfo.ts';
import { SimulatedControllerManager } from './simulatedControllerManager.ts';
import { SkewedClock } from './skewedClock.ts';
import { Timeline } from './timeline.ts';
import { type SimulatedReconcile, TimelineWriter } from './timelineWriter.ts';
import { createUserClient, type Manifests, type UserClient } from './userClient.ts';
import { type RequestRecord, Wire } from './wire.ts';

export class Simulation implements Omit<UserClient, 'create' | 'status'> {
  readonly clock: VirtualClock;
  readonly start: Instant;
  readonly server: ApiServer;
  readonly faults = new Faults();
  /** A user's client. */
  readonly user: Client;
  /** The actions of a user, by object name. */
  readonly userClient: UserClient;
  /** Every request of the process under test. */
  readonly requests: RequestRecord[] = [];
  /** Every reconcile of the process under test. */
  readonly reconciles: SimulatedReconcile[] = [];
  readonly #serverClock: SkewedClock;
  readonly #options: SimulationOptions;
  readonly #random: Random;
  readonly #history: History;
  readonly #timeline: Timeline;
  readonly #timelineWriter: TimelineWriter;
  readonly #simulatedControllers: SimulatedControllerManager;
  readonly #kinds = new Map<string, string>();
  #processOffset = millis(0);
  #run: ProcessRun | undefined;
  #lastRun: ProcessRun | undefined;
  #answers = 0;

  constructor(
    parts: { clock: VirtualClock; serverClock: SkewedClock; server: ApiServer },
    options: SimulationOptions,
  ) {
    const { clock, serverClock, server } = parts;
    this.clock = clock;
    this.start = clock.now();
    this.server = server;
    this.#serverClock = serverClock;
    this.#options = options;
    this.#random = seededRandom((options.seed ?? 1) * 2 + 1);
    this.#timeline = new Timeline(this.start);
    this.#timelineWriter = new TimelineWriter(
      this.#timeline,
      () => clock.now(),
      (name) => this.#run?.controllers.find((controller) => controller.name === name)?.for,
    );
    this.#history = new History({
      handler: server.handle,
      clock,
      serverClock,
      onChange: (change) => {
        this.#kinds.set(`${change.group}/${change.resource}`, change.kind);
        this.#timelineWriter.change(change);
        options.onChange?.(change);
        this.#simulatedControllers.change(change);
      },
    });
    this.user = createClient({
      transport: inProcessTransport(this.#history.handlerFor('user')),
      clock,
      random: this.#random,
      flow: 'none',
      userAgent: 'user',
      fieldManager: 'user',
    });
    this.userClient = createUserClient(this.user);
    this.#simulatedControllers = new SimulatedControllerManager(options.simulatedControllers ?? [], {
      handler: this.#history.handlerFor('simulated controller'),
      clock: serverClock,
      random: seededRandom((options.seed ?? 1) * 2 + 2),
    });
  }

  /** The changes that the server accepted, in order. */
  get changes(): readonly Change[] {
    return this.#history.changes;
  }
  /** The controllers of the current or last process. */
  get controllers(): readonly ControllerDefinition[] {
    return this.#lastRun?.controllers ?? [];
  }
  /** Whether the process under test is running. */
  get running(): boolean {
    return this.#run !== undefined;
  }

  /** The metrics of the current or last process. */
  get registry(): Registry {
    if (this.#lastRun === undefined) throw new Error('no process was started');
    return this.#lastRun.manager.registry;
  }

  apply = (manifests: Manifests): Promise<void> => this.#then(this.userClient.apply(manifests));
  patch = (ref: string, patch: object): Promise<void> => this.#then(this.userClient.patch(ref, patch));
  delete: UserClient['delete'] = (ref, options) => this.#then(this.userClient.delete(ref, options));
  get: UserClient['get'] = (ref) => this.userClient.get(ref);

  /** Waits until all work that is due now is done. Time does not advance. */
  settle = (): Promise<void> => this.clock.advance(millis(0), this.#rest);

  #rest = (): Promise<void> =>
    settle({
      activities: () => this.#simulatedControllers.activities(this.#run?.manager),
      undelivered: () => this.server.undelivered(),
      progress: () => this.requests.length + this.#answers + this.reconciles.length + this.#others(),
    });

  #others = (): number => this.changes.length + this.#simulatedControllers.reconciles;

  /** Advances the clock from one due instant to the next, and finishes all due work at each. */
  async timePasses(length: Millis): Promise<void> {
    await this.clock.advance(length, this.#rest);
  }

  /** Advances the clock until the predicate holds; checks it whenever all due work is done. Returns the elapsed time. */
  async until(predicate: () => boolean | Promise<boolean>, limit: Millis): Promise<Millis> {
    const began = this.clock.now();
    const end = plus(began, limit);
    for (;;) {
      await this.settle();
      if (await predicate()) return millis(this.clock.now() - began);
      const next = this.clock.next();
      if (next === undefined || next > end) break;
      await this.clock.advanceTo(next, this.#rest);
    }
    throw new Error(`the condition did not hold within ${limit / 1000} s`);
  }

  /** Requests of the process that are meant to change the cluster. */
  writes = (): RequestRecord[] => this.requests.filter(isWrite);

  timeline = (): string => this.#timeline.text();

  /** Sets the offset of the process's wall clock from simulation time. Its timers follow. */
  async skewProcess(offset: Millis): Promise<void> {
    const back = offset < this.#processOffset;
    this.#processOffset = offset;
    this.#run?.clock.set(offset);
    if (back) this.#run?.manager.timers.deliverAll();
    await this.settle();
  }
  /** Changes the process's wall clock by this much. */
  jumpProcess = (by: Millis): Promise<void> => this.skewProcess(millis(this.#processOffset + by));
  /** Sets the offset of the server's wall clock from simulation time. */
  async skewServer(offset: Millis): Promise<void> {
    this.#serverClock.set(offset);
    await this.settle();
  }
  /** The time of the server's clock, which the guarantees refer to. */
  serverNow = (): Instant => this.#serverClock.now();

  /** Takes the leadership away from the process (false) or gives it back (true). */
  async setLeading(leading: boolean): Promise<void> {
    this.#run?.leadership.set(leading);
    await this.settle();
  }

  /** Kills the process. It stays down until `restart`. */
  crash(): void {
    this.#run?.kill();
    this.#run = undefined;
  }

  /** Stops the process gracefully if it runs, and starts a new one. */
  async restart(): Promise<void> {
    await this.stop();
    this.#startProcess();
    await this.settle();
  }

  /** Stops the process gracefully. Takes some (virtual) seconds if requests hang. */
  async stop(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    let stopped = false;
    const stopping = run.stop().then(() => {
      stopped = true;
    });
    await this.settle();
    for (let next = this.clock.next(); !stopped && next !== undefined; next = this.clock.next())
      await this.clock.advanceTo(next, this.#rest);
    await stopping;
    this.#run = undefined;
  }

  /** Reconciles every object once more. A controller that has done its work writes nothing. */
  async doubleRun(): Promise<DoubleRun> {
    const { reconciles, requests, settle } = this;
    if (this.#run === undefined) return { objects: 0, reconciled: 0, writes: [] };
    return runAgain({ manager: this.#run.manager, reconciles, requests, settle });
  }

  async close(): Promise<void> {
    this.faults.heal();
    this.crash();
    const stopped = this.#simulatedControllers.stop();
    await this.clock.advance(millis(60_000), this.#rest);
    await stopped;
    this.#history.close();
    await this.server.close();
  }

  /** Called by simulate(). */
  async begin(): Promise<void> {
    const { kinds = [], prepare } = this.#options;
    if (kinds.length > 0) await this.apply(kinds.map(({ crd }) => crd));
    const run = prepare === undefined ? undefined : this.#createProcess();
    await prepare?.(this);
    await this.#simulatedControllers.start();
    await this.settle();
    this.#startProcess(run);
    await this.settle();
  }

  async #then<T>(work: Promise<T>): Promise<T> {
    const result = await work;
    await this.settle();
    return result;
  }

  #startProcess(run = this.#createProcess()): void {
    if (run === undefined) return;
    for (const { for: kind } of run.controllers) this.#kinds.set(`${kind.group}/${kind.resource}`, kind.kind);
    this.#run = run;
    this.#lastRun = run;
    run.start();
  }

  #createProcess(): ProcessRun | undefined {
    const { compose, log = silentLog, onRequest } = this.#options;
    if (compose === undefined) return undefined;
    const clock = new SkewedClock(this.clock, this.#processOffset);
    const wire = new Wire({
      handler: this.#history.handlerFor('process'),
      faults: this.faults,
      clock: this.clock,
      onRequest: (record) => {
        this.requests.push(record);
        onRequest?.(record);
      },
      onAnswer: (record) => {
        this.#answers++;
        this.#timelineWriter.answer(record, ({ group, resource }) => this.#kindName(group, resource));
      },
    });
    const run: ProcessRun = new ProcessRun({
      server: this.server,
      clock,
      wire,
      random: this.#random,
      log,
      compose,
      onReconcile: (record) => {
        if (this.#run !== run) return;
        const reconcile = { ...record, at: this.clock.now() };
        this.reconciles.push(reconcile);
        this.#timelineWriter.reconcile(reconcile);
      },
    });
    return run;
  }

  #kindName(group: string, resource: string): string {
    return this.#kinds.get(`${group}/${resource}`) ?? resource.replace(/s$/, '');
  }
}

export async function simulate(options: SimulationOptions = {}): Promise<Simulation> {
  const { seed = 1, start = VIRTUAL_START } = options;
  const clock = new VirtualClock(start);
  const serverClock = new SkewedClock(clock);
  const server = await createServer({ clock: serverClock, random: seededRandom(seed * 2) });
  const simulation = new Simulation({ clock, serverClock, server }, options);
  await simulation.begin();
  return simulation;
}
