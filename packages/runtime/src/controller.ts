// A running controller: connects a definition to its caches, its queue and its worker.

import type { Clock } from '@lapse/base/clock';
import type { Instant } from '@lapse/base/instant';
import type { Log } from '@lapse/base/log';
import type { Random } from '@lapse/base/random';
import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { CacheListener } from './cache.ts';
import type { CacheHandle, Caches } from './caches.ts';
import { ChangeKeys } from './changeKeys.ts';
import { createContextClient } from './contextClient.ts';
import { controllerReader, type Share } from './controllerReader.ts';
import type { DecisionTime } from './decisionTime.ts';
import { type ControllerDefinition, kindId, primarySource, rightsOf } from './definition.ts';
import { DynamicWatches } from './dynamic.ts';
import type { EventSink } from './events/types.ts';
import { type Interner, keyText, parseKeyText } from './interner.ts';
import type { Registry } from './metrics/registry.ts';
import { type ControllerMetrics, controllerMetrics, queueMetrics } from './metrics/runtimeMetrics.ts';
import type { Outcome } from './outcome.ts';
import { type Expected, OwnWrites } from './ownWrites.ts';
import { Queue, type Taken } from './queue.ts';
import type { KindReader, ReconcileContext } from './reconcileContext.ts';
import { computeReport } from './report.ts';
import { withinRights } from './rights.ts';
import type { Timers } from './timers.ts';
import { type ReconcileRecord, Worker } from './worker.ts';

export interface FirstDeadline {
  readonly controller: string;
  readonly key: string;
  readonly at: Instant;
}

/** What all controllers of a process share. */
export interface Shared {
  readonly clock: Clock;
  readonly random: Random;
  readonly time: DecisionTime;
  readonly client: Client;
  readonly caches: Caches;
  readonly interner: Interner;
  readonly timers: Timers;
  readonly registry: Registry;
  readonly events: EventSink;
  readonly log: Log;
  readonly dryRun: boolean;
  /** Requests outside the declared rights fail; for tests. */
  readonly enforceRights: boolean;
  readonly onReconcile?: (record: ReconcileRecord & { readonly controller: string }) => void;
  /** Called for an object of the initial list whose first reconcile is scheduled for later. */
  readonly onFirstDeadline?: (first: FirstDeadline) => void;
}

const CONCURRENCY = 4;

export class Controller {
  readonly definition: ControllerDefinition;
  readonly queue: Queue;
  #actingSince: Instant;
  readonly #shared: Shared;
  readonly #log: Log;
  readonly #client: Client;
  readonly #metrics: ControllerMetrics;
  readonly #shares: ReadonlyMap<string, Share>;
  readonly #primary: CacheHandle<KubeObject>;
  readonly #reader: KindReader;
  readonly #changeKeys: ChangeKeys;
  /** Set if the definition has `countsAsAdded`. */
  #onCounted: (() => void) | undefined;
  readonly #ownWrites: OwnWrites;
  readonly #dynamic: DynamicWatches;
  readonly #worker: Worker;
  readonly #abort = new AbortController();

  /** Starts to fill the caches and the queue. No key is reconciled before `start`. */
  constructor(definition: ControllerDefinition, shared: Shared) {
    const { clock, registry, interner, time, caches, onFirstDeadline } = shared;
    this.definition = definition;
    this.#shared = shared;
    this.#actingSince = time.now();
    this.#log = shared.log.with({ controller: definition.name });
    this.#client = shared.enforceRights
      ? withinRights(shared.client, rightsOf(definition), `controller ${definition.name}`)
      : shared.client;
    this.#metrics = controllerMetrics(registry, definition.name, definition.concurrency ?? CONCURRENCY);
    this.queue = this.#createQueue();
    this.#worker = this.#createWorker();
    this.#ownWrites = new OwnWrites({
      clock,
      interner,
      onCaughtUp: (id) => this.queue.add(id, 'cache caught up'),
      onGivenUp: () => this.#metrics.behind.inc(),
    });
    this.#dynamic = new DynamicWatches({
      caches,
      interner,
      onChange: (change, source) => this.#changeKeys.dynamic(source, change),
      onStatus: (user) => this.queue.add(user, 'source changed its state'),
    });
    const own = primarySource(definition);
    this.#primary = caches.acquire(own);
    const shares = new Map<string, Share>([[kindId(own.kind), { source: own, handle: this.#primary }]]);
    for (const source of definition.watches ?? [])
      shares.set(kindId(source.kind), { source, handle: caches.acquire(source) });
    this.#shares = shares;
    this.#reader = controllerReader(definition.name, shares);
    const { name: controller } = definition;
    this.#changeKeys = new ChangeKeys({
      definition,
      queue: this.queue,
      interner,
      time,
      cache: this.#reader,
      ...(onFirstDeadline === undefined
        ? {}
        : { onFirstDeadline: (key, at) => onFirstDeadline({ controller, key, at }) }),
      ...(this.#onCounted === undefined ? {} : { onCounted: this.#onCounted }),
    });
    this.#listen();
  }

  get name(): string {
    return this.definition.name;
  }
  /** Number of running reconciles. */
  get busy(): number {
    return this.#worker.busy;
  }
  get running(): boolean {
    return this.#worker.running;
  }
  /** The cache handles of the static sources. */
  get handles(): readonly CacheHandle<KubeObject>[] {
    return [...this.#shares.values()].map(({ handle }) => handle);
  }

  /** Whether all caches are synced. An optional cache may have a problem instead. */
  get isStartable(): boolean {
    return [...this.#shares.values()].every(
      ({ source, handle: { status } }) =>
        status.synced || (source.optional === true && status.problem !== undefined),
    );
  }

  start(): void {
    this.#actingSince = this.#shared.time.now();
    this.queue.open();
    this.#worker.start();
  }

  /** Takes no more keys. Resolves when the running reconciles have ended. The queue still collects changed keys. */
  pause(): Promise<void> {
    this.queue.close();
    this.definition.onPause?.();
    return this.#worker.stop();
  }

  /**
   * Becomes a standby after the lease was lost and the last reconcile has ended. A standby keeps its caches and one queue
   * entry per object. A replica that leads again by now reconciles everything instead.
   */
  standBy(): void {
    if (this.running) {
      this.enqueueAll('leadership returned');
      return;
    }
    this.#dynamic.clear();
    this.#ownWrites.clear();
    this.queue.clear();
    this.definition.onStandby?.();
    for (const { handle, changed } of this.#listeners()) handle.replay(changed);
  }

  /** Enqueues every object: after a pause, because changes may have been missed, and for double-run tests. */
  enqueueAll(reason: string): void {
    this.#changeKeys.addAll(this.#primary.reader.list(), reason);
  }

  /** Aborts running requests and releases all caches. */
  close(): void {
    this.#abort.abort();
    this.#dynamic.clear();
    for (const handle of this.handles) handle.release();
  }

  #createQueue(): Queue {
    const { registry, clock, random, timers, interner } = this.#shared;
    const { queue: queueName, name, retry = {} } = this.definition;
    const { observer: all, watch } = queueMetrics(registry, queueName ?? name);
    const { added, ...others } = all;
    if (this.definition.countsAsAdded !== undefined) this.#onCounted = added;
    const observer = this.#onCounted === undefined ? all : others;
    const onReady = () => this.#worker.wake();
    const queue = new Queue({ clock, random, timers, interner, observer, retry, onReady });
    watch(queue);
    queue.close();
    return queue;
  }

  #createWorker(): Worker {
    const { clock, time, interner, onReconcile } = this.#shared;
    const { name, concurrency = CONCURRENCY } = this.definition;
    return new Worker({
      queue: this.queue,
      concurrency,
      clock,
      time,
      metrics: this.#metrics,
      log: this.#log,
      behindUntil: ({ id }) => this.#ownWrites.park(id),
      keyOf: ({ id }) => interner.text(id),
      reconcile: (taken, now) => this.#reconcile(taken, now),
      report: (taken, outcome) => this.#report(taken, outcome),
      ...(onReconcile === undefined
        ? {}
        : { onReconcile: (record) => onReconcile({ ...record, controller: name }) }),
    });
  }

  #listen(): void {
    for (const { handle, changed } of this.#listeners()) handle.listen(changed);
    for (const handle of this.handles) {
      handle.listen(({ id }) => this.#ownWrites.seen(id));
      handle.onStatus(() => this.#ownWrites.recheck());
    }
  }

  *#listeners(): Generator<{ handle: CacheHandle<KubeObject>; changed: CacheListener<KubeObject> }> {
    yield { handle: this.#primary, changed: (change) => this.#changeKeys.primary(change) };
    for (const watch of this.definition.watches ?? [])
      yield {
        handle: this.#shares.get(kindId(watch.kind))!.handle,
        changed: (change) => this.#changeKeys.watched(watch, change),
      };
  }

  async #reconcile(taken: Taken, now: Instant): Promise<Outcome> {
    const key = parseKeyText(this.#shared.interner.text(taken.id));
    const outcome = await this.definition.reconcile(this.#ctx(taken, key, now));
    if (this.#primary.reader.get(key) !== undefined) return outcome;
    this.#dynamic.drop(taken.id);
    // The object was removed during the reconcile. Drops the state that the reconcile may have kept for it.
    if (!this.queue.isOpen) this.definition.onStandbyChange?.(key, undefined);
    return outcome;
  }

  #ctx(taken: Taken, key: ObjectKey, now: Instant): ReconcileContext {
    const { dryRun, events, registry } = this.#shared;
    const { id, reason, failures, losses } = taken;
    const { signal } = this.#abort;
    return {
      now,
      actingSince: this.#actingSince,
      key,
      reason,
      failures,
      losses,
      dryRun,
      signal,
      cache: this.#reader,
      client: createContextClient({
        client: this.#client,
        dryRun,
        signal,
        onWrite: (kind, written, expected) => this.#wrote(taken, kind, written, expected),
      }),
      dynamic: { declare: (sources) => this.#dynamic.declare(id, sources) },
      event: (regarding, event) => events.record(regarding, event, this.name),
      log: this.#log.with({ key: keyText(key) }),
      metrics: registry,
    };
  }

  #wrote(by: Taken, kind: Kind, key: ObjectKey, expected: Expected): void {
    const share = this.#shares.get(kindId(kind));
    // The cache of an optional watch that is not synced never catches up.
    if (share === undefined || (share.source.optional && !share.handle.status.synced)) return;
    // An object outside the selector never produces a watch event.
    if (share.source.labelSelector || share.source.fieldSelector) return;
    const { namespace } = share.source;
    if (namespace === undefined || namespace === key.namespace)
      this.#ownWrites.wrote(by.id, share.handle, key, expected);
  }

  #report(taken: Taken, outcome: Outcome): void {
    const { interner, events } = this.#shared;
    if (outcome.kind === 'failed' && outcome.cause instanceof ApiError && outcome.cause.code === 403)
      this.#metrics.forbidden.inc();
    const note = computeReport(outcome, taken.failures + 1, this.definition.stuckAfter);
    const object = this.#primary.reader.get(parseKeyText(interner.text(taken.id)));
    if (note !== undefined && object !== undefined) events.record(object, note, this.name);
  }
}
