// Runs all controllers of a process. Start: sync caches, acquire leadership, start workers. Stop, within ten seconds:
// finish running reconciles, release the lease, close the watches.

import type { Cancel, Clock } from '@lapse/base/clock';
import { type Millis, millis, plus, seconds } from '@lapse/base/instant';
import { type Log, silentLog } from '@lapse/base/log';
import { onSetBack } from '@lapse/base/monotonic';
import type { Random } from '@lapse/base/random';
import type { Client } from '@lapse/kube/client/client';
import type { Activity } from './activity.ts';
import { type CacheStatus, Caches } from './caches.ts';
import { Controller, type Shared } from './controller.ts';
import { type DecisionTime, localTime } from './decisionTime.ts';
import type { ControllerDefinition } from './definition.ts';
import { Interner } from './interner.ts';
import type { Liveness } from './liveness.ts';
import { Registry } from './metrics/registry.ts';
import { cacheMetrics } from './metrics/runtimeMetrics.ts';
import { asError } from './outcome.ts';
import { computeReadiness, type Readiness } from './readiness.ts';
import { Timers } from './timers.ts';

/** Leader election. Without an elector every replica acts as the leader. */
export interface Elector {
  /** `gained` and `lost` are called alternately. */
  start(on: { gained(): void; lost(): void }): void;
  /** Releases the leadership if this replica holds it. */
  stop(): Promise<void>;
}

/** Kubernetes Events that are not sent yet. */
export interface EventOutbox {
  readonly sink: Shared['events'];
  readonly pending: number;
  /** Sends the pending Events and stops. */
  close(within: Millis): Promise<void>;
}

export interface ManagerOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly client: Client;
  readonly controllers: readonly ControllerDefinition[];
  readonly elector?: Elector;
  readonly events?: EventOutbox;
  readonly log?: Log;
  readonly registry?: Registry;
  /** Unset: decisions use the local clock. */
  readonly time?: DecisionTime;
  /** All writes of all controllers use dryRun. */
  readonly dryRun?: boolean;
  /** For sockets: SOCKET_LIVENESS. Unset: dead connections are not detected. */
  readonly liveness?: Liveness;
  /** Default: streaming lists first. */
  readonly listBy?: 'stream' | 'pages';
  /** False: no bookmarks, which cost one wake-up per minute; for simulations, with `listBy: 'pages'`. */
  readonly bookmarks?: boolean;
  /** Freeze cached objects; for tests. */
  readonly freeze?: boolean;
  /** Calls outside a controller's declared rights fail; for tests. */
  readonly enforceRights?: boolean;
  /** From countInFlight, for `activity`. */
  readonly inFlight?: () => number;
  readonly onReconcile?: Shared['onReconcile'];
  readonly onFirstDeadline?: Shared['onFirstDeadline'];
  /** How long `stop` may take; default: 9 s. */
  readonly drain?: Millis;
}

export type Phase = 'new' | 'syncing' | 'standby' | 'leading' | 'stopped';

// The caller of the shutdown waits ten seconds. The process needs the remaining second to exit.
const DRAIN = seconds(9);
/** The share of the drain time for running reconciles. The rest is for aborted reconciles, the lease and the watches. */
const DRAIN_SHARE = 0.7;

export class Manager {
  readonly registry: Registry;
  readonly caches: Caches;
  readonly timers: Timers;
  readonly interner = new Interner();
  readonly #options: ManagerOptions;
  readonly #log: Log;
  #controllers: Controller[] = [];
  #phase: Phase = 'new';
  #stopFollowingClock: Cancel = () => {};
  #stopped: Promise<boolean> | undefined;

  constructor(options: ManagerOptions) {
    this.#options = options;
    this.#log = options.log ?? silentLog;
    this.registry = options.registry ?? new Registry();
    this.timers = new Timers(options.clock);
    this.caches = this.#createCaches();
    cacheMetrics(this.registry, this.caches, this.timers);
  }

  get phase(): Phase {
    return this.#phase;
  }
  get controllers(): readonly Controller[] {
    return this.#controllers;
  }

  start(): void {
    if (this.#phase !== 'new') throw new Error('the manager is already started');
    this.#phase = 'syncing';
    const shared = this.#shared();
    this.#stopFollowingClock = onSetBack(this.#options.clock, () => {
      this.#log.warn({}, 'the wall clock was set back; reconciling all waiting keys');
      this.timers.deliverAll();
    });
    this.#controllers = this.#options.controllers.map((definition) => new Controller(definition, shared));
    for (const { handles } of this.#controllers)
      for (const handle of handles) handle.onStatus(() => this.#advance());
    this.#advance();
  }

  /** The result of the readiness probe and the list of problems. */
  readiness(): Readiness {
    const needed = new Set(this.#controllers.flatMap(({ handles }) => handles.map(({ source }) => source)));
    const sources = [...this.caches.statuses()].map(({ source, status }) => ({
      source,
      status,
      isNeeded: needed.has(source),
    }));
    const isStarted = this.#phase === 'standby' || this.#phase === 'leading';
    const { ready, problems } = computeReadiness(isStarted, sources);
    const clock = this.#options.time?.problem?.();
    return { ready, problems: clock === undefined ? problems : [...problems, `clock: ${clock}`] };
  }

  activity(): Activity {
    const running = this.#controllers.filter((controller) => controller.running);
    return {
      reconciles: this.#controllers.reduce((sum, { busy }) => sum + busy, 0),
      ready: running.reduce((sum, { queue }) => sum + queue.ready, 0),
      caches: this.caches.busy,
      requests: this.#options.inFlight?.() ?? 0,
      events: this.#options.events?.pending ?? 0,
    };
  }

  /** Enqueues every object of every controller. */
  enqueueAll(reason: string): void {
    for (const controller of this.#controllers) controller.enqueueAll(reason);
  }

  /** Stops everything in order. Resolves to true if every running reconcile finished without being aborted. */
  stop(): Promise<boolean> {
    this.#stopped ??= this.#drain();
    return this.#stopped;
  }

  /** Takes the next start-up steps whose conditions hold: leader election after the sync, then the controllers. */
  #advance(): void {
    if (this.#phase === 'syncing' && this.#controllers.every(hasArrived)) this.#campaign();
    if (this.#phase !== 'leading') return;
    for (const controller of this.#controllers) {
      if (controller.running || !controller.isStartable) continue;
      this.#log.info({ controller: controller.name }, 'controller started');
      controller.start();
    }
  }

  #campaign(): void {
    const { elector } = this.#options;
    this.#phase = 'standby';
    if (elector === undefined) this.#lead();
    else elector.start({ gained: () => this.#lead(), lost: () => this.#stepDown() });
  }

  #lead(): void {
    if (this.#phase !== 'standby') return;
    this.#phase = 'leading';
    this.#advance();
  }

  #stepDown(): void {
    if (this.#phase !== 'leading') return;
    this.#phase = 'standby';
    this.#log.warn({}, 'leadership lost; reconciles are paused until it is regained');
    for (const controller of this.#controllers) {
      if (!controller.running) continue;
      void controller.pause().then(() => {
        if (this.#phase !== 'stopped') controller.standBy();
      });
    }
  }

  async #drain(): Promise<boolean> {
    const { elector, events, drain = DRAIN } = this.#options;
    this.#phase = 'stopped';
    this.#stopFollowingClock();
    const reconciles = Promise.all(this.#controllers.map((controller) => controller.pause())).then(
      () => true,
    );
    const drained = await this.#within(millis(drain * DRAIN_SHARE), reconciles, false);
    for (const controller of this.#controllers) controller.close();
    this.timers.close();
    const rest = millis(drain * (1 - DRAIN_SHARE));
    const remaining = [reconciles, elector?.stop(), events?.close(rest), this.caches.close()];
    await this.#within(rest, Promise.allSettled(remaining), []);
    return drained;
  }

  /** Resolves to the result of `work`, or to `otherwise` after `limit`. */
  #within<R>(limit: Millis, work: Promise<R>, otherwise: R): Promise<R> {
    const { clock } = this.#options;
    return new Promise((resolve) => {
      const cancel = clock.wakeAt(plus(clock.now(), limit), () => resolve(otherwise));
      void work.then((result) => {
        cancel();
        resolve(result);
      });
    });
  }

  #shared(): Shared {
    const {
      clock,
      random,
      client,
      time,
      dryRun = false,
      enforceRights = false,
      events,
      onReconcile,
      onFirstDeadline,
    } = this.#options;
    const { caches, timers, interner, registry } = this;
    return {
      clock,
      random,
      client,
      caches,
      timers,
      interner,
      registry,
      dryRun,
      enforceRights,
      time: time ?? localTime(clock),
      events: events?.sink ?? { record: () => {} },
      log: this.#log,
      ...(onReconcile === undefined ? {} : { onReconcile }),
      ...(onFirstDeadline === undefined ? {} : { onFirstDeadline }),
    };
  }

  #createCaches(): Caches {
    const { clock, random, client, liveness, listBy, bookmarks, freeze } = this.#options;
    const errors = this.registry.counter(
      'lapse_handler_errors_total',
      'Mappers, facts or projections that threw.',
      ['source'],
    );
    return new Caches({
      client,
      clock,
      random,
      interner: this.interner,
      ...(liveness === undefined ? {} : { liveness }),
      ...(listBy === undefined ? {} : { listBy }),
      ...(bookmarks === undefined ? {} : { bookmarks }),
      ...(freeze === undefined ? {} : { freeze }),
      onStatus: (source, status) => this.#logStatus(source, status),
      onError: (source, error) => {
        errors.with(source).inc();
        this.#log.error({ source, error: asError(error) }, 'a mapper, facts or projection function threw');
      },
    });
  }

  #logStatus(source: string, { state, synced, problem }: CacheStatus): void {
    if (problem === undefined) this.#log.debug({ source, state, synced }, 'cache');
    else
      this.#log.warn(
        { source, state, synced, verb: problem.verb, problem: problem.kind, error: problem.error },
        'cache',
      );
  }
}

/** Whether each cache is synced or has a problem. The start does not wait for a kind that is not served. */
const hasArrived = ({ handles }: Controller): boolean =>
  handles.every(({ status }) => status.synced || status.problem !== undefined);
