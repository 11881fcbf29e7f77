// Sends Events to the API server in the background. `record` never waits: Events are queued and a few are sent at a time.
// If the server does not accept them for too long, they are dropped and counted. No decision depends on an Event.

import type { Cancel, Clock } from '@lapse/base/clock';
import { type Millis, millis, plus, seconds } from '@lapse/base/instant';
import type { Log } from '@lapse/base/log';
import type { Random } from '@lapse/base/random';
import { sleep } from '@lapse/base/sleep';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { EventOutbox } from '../manager.ts';
import type { Counter, Registry } from '../metrics/registry.ts';
import { asError } from '../outcome.ts';
import { buildEvent, KubeEvent } from './build.ts';
import { EventSeriesTracker, type EventWrite, FINISH_AFTER } from './series.ts';
import type { EventNote, EventSink, RegardingObject } from './types.ts';

export interface EventOutboxOptions {
  /** Not wrapped in `leaderOnly` or dry run: Events are always written. */
  readonly client: Pick<Client, 'create' | 'patch'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly registry: Registry;
  /** The reporting instance: the host name or the Pod's name. */
  readonly instance: string;
  /** The prefix of `reportingController`; default: `lapse.dev`. */
  readonly domain?: string;
}

const CONCURRENCY = 4;
const MAX_QUEUED = 1000;
const MAX_TRIES = 12;
const RETRY_AFTER = seconds(10);

export class EventSender implements EventOutbox {
  readonly #options: EventOutboxOptions;
  readonly #book = new EventSeriesTracker();
  readonly #queue: EventWrite[] = [];
  /** Names of the Events with a write in progress. */
  readonly #writing = new Set<string>();
  readonly #stop = new AbortController();
  readonly #dropped: Counter;
  readonly #recorded: Counter;
  #sending = 0;
  #sleeping = 0;
  #sweep: Cancel | undefined;
  #closed = false;
  #onIdle: (() => void)[] = [];

  constructor(options: EventOutboxOptions) {
    this.#options = options;
    const { registry } = options;
    this.#recorded = registry.counter('lapse_events_total', 'Events that were recorded.').with();
    this.#dropped = registry.counter('lapse_events_dropped_total', 'Events that were not written.').with();
  }

  readonly sink: EventSink = { record: (regarding, note, by) => this.#record(regarding, note, by) };

  /** Number of Events that can be sent now, without those that wait for a retry. */
  get pending(): number {
    return this.#queue.length + this.#sending - this.#sleeping;
  }

  async close(within: Millis): Promise<void> {
    const { clock } = this.#options;
    this.#closed = true;
    this.#sweep?.();
    for (const write of this.#book.flush(clock.now())) this.#enqueue(write);
    if (this.#queue.length + this.#sending > 0) {
      const done = new Promise<void>((resolve) => this.#onIdle.push(resolve));
      const cancel = clock.wakeAt(plus(clock.now(), within), () => this.#stop.abort());
      await Promise.race([
        done,
        new Promise<void>((resolve) => this.#stop.signal.addEventListener('abort', () => resolve())),
      ]);
      cancel();
    }
    this.#stop.abort();
  }

  #record(regarding: RegardingObject, note: EventNote, by: string): void {
    if (this.#closed) return;
    const { clock, random, instance, domain = 'lapse.dev' } = this.#options;
    const now = clock.now();
    const event = buildEvent(regarding, note, { now, random, instance, controller: `${domain}/${by}` });
    this.#recorded.inc();
    const write = this.#book.observe(event, now, clock.elapsed());
    this.#armSweep();
    if (write === 'dropped') this.#dropped.inc();
    else if (write !== 'counted') this.#enqueue(write);
  }

  /** Armed only while there are series to sweep, so that an idle process has no timers. */
  #armSweep(): void {
    const { clock } = this.#options;
    this.#sweep ??= clock.wakeAt(plus(clock.now(), FINISH_AFTER), () => {
      this.#sweep = undefined;
      for (const write of this.#book.sweep(clock.now())) this.#enqueue(write);
      if (this.#book.size > 0) this.#armSweep();
    });
  }

  #enqueue(write: EventWrite): void {
    if (this.#queue.length >= MAX_QUEUED) {
      this.#dropped.inc();
      return;
    }
    this.#queue.push(write);
    this.#pump();
  }

  #pump(): void {
    while (this.#sending < CONCURRENCY) {
      const write = this.#take();
      if (write === undefined) break;
      const { name } = write.event.metadata;
      this.#sending++;
      this.#writing.add(name!);
      void this.#deliver(write).then(() => {
        this.#sending--;
        this.#writing.delete(name!);
        this.#pump();
      });
    }
    if (this.#sending > 0 || this.#queue.length > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  /** The next write whose Event has no write in progress. Otherwise an earlier count could overwrite a later one. */
  #take(): EventWrite | undefined {
    const at = this.#queue.findIndex(({ event }) => !this.#writing.has(event.metadata.name!));
    return at < 0 ? undefined : this.#queue.splice(at, 1)[0];
  }

  async #deliver(write: EventWrite): Promise<void> {
    const { clock, random, log } = this.#options;
    const { signal } = this.#stop;
    for (let tries = 1; !signal.aborted; tries++) {
      try {
        if (await this.#send(write)) return;
      } catch (error) {
        const refused = error instanceof ApiError && error.code < 500 && error.code !== 429;
        if (refused || tries >= MAX_TRIES) {
          this.#dropped.inc();
          log.warn(
            { error: asError(error), event: write.event.reason, regarding: write.event.regarding },
            'event not written',
          );
          return;
        }
      }
      this.#sleeping++;
      await sleep(clock, millis(RETRY_AFTER * (1 + 0.25 * random.next())), signal);
      this.#sleeping--;
    }
    this.#dropped.inc();
  }

  /**
   * Returns false to retry. If the Event of a series does not exist, it is created again: it has expired on the server. If
   * an earlier write creates it at the same time, it is patched instead.
   */
  async #send({ kind, event }: EventWrite): Promise<boolean> {
    if (kind === 'create') {
      await this.#create(event);
      return true;
    }
    if (await this.#patch(event)) return true;
    return (await this.#create(event)) === 'created' || this.#patch(event);
  }

  async #patch({ metadata, series }: KubeEvent): Promise<boolean> {
    const key = { namespace: metadata.namespace!, name: metadata.name! };
    const options = { signal: this.#stop.signal };
    const answer = await this.#options.client.patch(
      KubeEvent,
      key,
      { type: 'merge', patch: { series } },
      options,
    );
    if (answer.kind === 'missing') return false;
    if (answer.kind !== 'patched') throw answer.error;
    return true;
  }

  /** `exists` means that an earlier attempt succeeded and its response was lost. */
  async #create(event: KubeEvent): Promise<'created' | 'exists'> {
    const answer = await this.#options.client.create(KubeEvent, event, { signal: this.#stop.signal });
    if (answer.kind === 'invalid') throw answer.error;
    return answer.kind;
  }
}
