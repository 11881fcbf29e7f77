// Keeps a sink in sync with the API server: lists, watches, resumes and retries without limit. The state transitions
// are in reflectorSteps.ts, the action of each state is here. Events are delivered one by one, in order, in the event
// loop turn in which they were read. The sink must not block.

import { millis } from '@lapse/base/instant';
import { sleep } from '@lapse/base/sleep';
import { yieldEvery } from '@lapse/base/turn';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Shape } from '@lapse/kube/api/shape';
import { compareVersions } from '@lapse/kube/api/versions';
import { TransportError } from '@lapse/kube/client/transport';
import { watchSilence } from '@lapse/kube/client/watchdog';
import type { WatchEvent } from '@lapse/kube/client/watchEvents';
import { computeEnd, selectionOf } from './liveness.ts';
import { asError } from './outcome.ts';
import {
  beginListing,
  classify,
  computeNext,
  computePause,
  type Ending,
  type ListBy,
  NOTHING_WATCHED,
  type Progress,
  START,
  type Watched,
} from './reflectorSteps.ts';
import type { Problem, ReflectorOptions, ReflectorStatus } from './reflectorTypes.ts';

const PAGE = 500;
/** Yields to the event loop after this many items. */
const YIELD_AFTER = 1000;

export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #stop = new AbortController();
  readonly #yieldIfDue = yieldEvery(YIELD_AFTER);
  #progress: Progress;
  #problem: Problem | undefined;
  #yielding = false;
  #watchEvents = 0;
  #watchSince = millis(0);
  /** Unset after a malformed response: the next request asks for JSON. */
  #shape: Shape | undefined;
  #done: Promise<void> | undefined;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#progress = { ...START, by: options.listBy ?? 'stream' };
    this.#shape = options.source.projection?.shape;
  }

  get status(): ReflectorStatus {
    const state = this.#progress.state.kind;
    return this.#problem === undefined ? { state } : { state, problem: this.#problem };
  }

  /** Whether items were read but not delivered yet. Waiting for the server does not count. */
  get busy(): boolean {
    return this.#yielding;
  }

  start(): void {
    this.#done ??= this.#run();
  }

  /** Resolves when nothing more will be delivered. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { clock, random } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      if (this.#progress.state.kind === 'empty') this.#progress = beginListing(this.#progress);
      const ending = await this.#attempt();
      if (signal.aborted) return;
      this.#report(ending);
      this.#progress = computeNext(this.#progress, ending);
      const pause = computePause(this.#progress, ending, random);
      this.#options.onStatus?.(this.status);
      if (pause <= 0) continue;
      await sleep(clock, pause, signal);
    }
  }

  /** One list, one watch, or a streaming list that becomes a watch. */
  async #attempt(): Promise<Ending> {
    const { state } = this.#progress;
    switch (state.kind) {
      case 'empty':
        throw new Error('unreachable: nothing is attempted before listing');
      case 'listing':
        this.#options.sink.listBegins();
        return state.by === 'stream' ? this.#watch(undefined) : this.#list(state.by);
      case 'watching':
        return this.#watch(state.version);
    }
  }

  async #list(by: ListBy): Promise<Ending> {
    const { client, source, sink } = this.#options;
    const { kind } = source;
    let version = '';
    try {
      const pages = client.pages(kind, {
        ...selectionOf(source),
        ...this.#shaped(),
        signal: this.#stop.signal,
        limit: by === 'whole' ? 0 : PAGE,
      });
      for await (const page of pages) {
        if (page.kind === 'expired') return { kind: 'failed', error: page.error, watched: NOTHING_WATCHED };
        for (const item of page.items) {
          sink.listItem(item);
          const turn = this.#yieldIfDue();
          if (turn !== undefined) await this.#yieldTurn(turn);
        }
        version = page.resourceVersion;
      }
    } catch (error) {
      return { kind: 'failed', error: asError(error), watched: NOTHING_WATCHED };
    }
    sink.listEnds(version);
    return { kind: 'listed', version };
  }

  /** Watches from `version`. Without a version the stream starts with all existing objects. */
  async #watch(version: string | undefined): Promise<Ending> {
    const attempt = new AbortController();
    const onStop = () => attempt.abort();
    this.#stop.signal.addEventListener('abort', onStop, { once: true });
    let silent = false;
    const onSilent = () => {
      silent = true;
      attempt.abort();
    };
    this.#watchBegins();
    try {
      for await (const event of this.#events(version, attempt.signal, onSilent)) {
        if (this.#stop.signal.aborted) break;
        const ending = this.#take(event);
        if (ending !== undefined) return ending;
        const turn = this.#yieldIfDue();
        if (turn !== undefined) await this.#yieldTurn(turn);
      }
    } finally {
      this.#stop.signal.removeEventListener('abort', onStop);
      attempt.abort();
    }
    return silent ? this.#fellSilent() : { kind: 'closed', watched: this.#watched() };
  }

  #shaped(): { shape?: Shape } {
    return this.#shape === undefined ? {} : { shape: this.#shape };
  }

  #watchBegins(): void {
    this.#watchEvents = 0;
    this.#watchSince = this.#options.clock.elapsed();
  }

  #watched(): Watched {
    const lasted = millis(this.#options.clock.elapsed() - this.#watchSince);
    const isWatch = this.#progress.state.kind === 'watching';
    return isWatch ? { events: this.#watchEvents, lasted } : NOTHING_WATCHED;
  }

  /** Yields to the event loop. The reflector counts as busy because read items are not delivered yet. */
  async #yieldTurn(turn: Promise<void>): Promise<void> {
    this.#yielding = true;
    await turn;
    this.#yielding = false;
  }

  #events(
    version: string | undefined,
    signal: AbortSignal,
    onSilent: () => void,
  ): AsyncIterable<WatchEvent<T>> {
    const { client, source, liveness, clock, random, bookmarks } = this.#options;
    const events = client.watch(source.kind, {
      ...selectionOf(source),
      ...this.#shaped(),
      // A streaming list always needs bookmarks.
      ...(version === undefined
        ? { sendInitialEvents: true }
        : { resourceVersion: version, ...(bookmarks === false ? { bookmarks } : {}) }),
      ...(liveness === undefined ? {} : { timeoutSeconds: computeEnd(liveness, random) }),
      onOpen: () => this.#opened(),
      signal,
    });
    return liveness === undefined
      ? events
      : watchSilence(events, { clock, limit: liveness.silence, onSilent });
  }

  /** No data within the limit. For a streaming list: the server ignores sendInitialEvents or the connection is dead. */
  #fellSilent(): Ending {
    if (this.#progress.state.kind === 'listing') return { kind: 'unsupported', lasting: false };
    const error = new TransportError('timeout', 'no data from the watch within the time limit', {
      sent: true,
    });
    return { kind: 'failed', error, watched: this.#watched() };
  }

  /** Delivers one event. Returns the ending if the event ends the attempt. */
  #take(event: WatchEvent<T>): Ending | undefined {
    if (event.type === 'error') return { kind: 'failed', error: event.error, watched: this.#watched() };
    return this.#progress.state.kind === 'listing' ? this.#takeInitial(event) : this.#takeChange(event);
  }

  #takeInitial(event: Exclude<WatchEvent<T>, { type: 'error' }>): Ending | undefined {
    const { sink } = this.#options;
    switch (event.type) {
      case 'added':
      case 'modified':
        sink.listItem(event.object);
        return undefined;
      case 'bookmark':
        // A server that ignores sendInitialEvents sends ordinary bookmarks.
        if (!event.initialEventsEnd) return { kind: 'unsupported', lasting: true };
        sink.listEnds(event.resourceVersion);
        this.#becameWatching(event.resourceVersion);
        return undefined;
      case 'deleted':
        sink.removed(event.object);
        return undefined;
    }
  }

  /** The streaming list is complete and continues as a watch, without a new request. */
  #becameWatching(version: string): void {
    this.#problem = undefined;
    this.#progress = computeNext(this.#progress, { kind: 'listed', version });
    this.#watchBegins();
    this.#options.onStatus?.(this.status);
  }

  #takeChange(event: Exclude<WatchEvent<T>, { type: 'error' }>): Ending | undefined {
    const { sink } = this.#options;
    const version =
      event.type === 'bookmark' ? event.resourceVersion : (event.object.metadata.resourceVersion ?? '');
    const state = this.#progress.state;
    if (state.kind !== 'watching') throw new Error('unreachable: events come after the list');
    // An event that is not newer was delivered before: a proxy duplicated part of the response.
    const order = compareVersions(version, state.version);
    if (order !== undefined && order <= 0) return undefined;
    this.#watchEvents++;
    this.#progress = { ...this.#progress, state: { kind: 'watching', version } };
    sink.reached(version);
    if (event.type === 'deleted') sink.removed(event.object);
    else if (event.type !== 'bookmark') sink.changed(event.object);
    return undefined;
  }

  /** The server accepted the watch, so the problem is resolved. */
  #opened(): void {
    if (this.#problem === undefined || this.#progress.state.kind !== 'watching') return;
    this.#problem = undefined;
    this.#options.onStatus?.(this.status);
  }

  #report(ending: Ending): void {
    // A successful list does not resolve the problem of a refused watch.
    if (ending.kind === 'listed' && this.#problem?.verb === 'list') this.#problem = undefined;
    if (ending.kind !== 'failed') return;
    const kind = classify(ending.error);
    if (kind === 'malformed') this.#shape = undefined;
    const verb = this.#progress.state.kind === 'watching' ? 'watch' : 'list';
    const same = this.#problem?.kind === kind && this.#problem.verb === verb;
    const since = same ? this.#problem!.since : this.#options.clock.now();
    this.#problem = { kind, verb, error: ending.error, since };
  }
}
