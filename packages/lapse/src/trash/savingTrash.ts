// The trash of a process: reads the whole object, checks that it is the one to be deleted, and stores it. After a
// failure nothing is read or stored for some seconds, so that thousands of held deletions cost one attempt.

import type { Clock } from '@lapse/base/clock';
import { type Instant, isDue, plus, seconds } from '@lapse/base/instant';
import type { Log } from '@lapse/base/log';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Saved, SaveRequest, Trash } from '#deletion/trash';
import { BatchWriter } from './batchWriter.ts';
import type { Exclusion } from './exclusion.ts';
import type { TrashMetrics } from './metrics.ts';
import { buildRecord } from './record.ts';
import { type Ahead, SaveAhead } from './saveAhead.ts';
import { isRefusal } from './secretStore.ts';
import type { TrashStore } from './store.ts';

export interface SavingTrashOptions {
  readonly store: TrashStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: TrashMetrics;
  /** `Delete`: an object that cannot be saved is deleted all the same. */
  readonly onFailure: 'Hold' | 'Delete';
  /** Also save objects that are deleted because of their own TTL field. */
  readonly jobs: boolean;
  readonly excludes: Exclusion;
}

/** When a failed save is tried again. */
const RETRY = seconds(30);

export class SavingTrash implements Trash {
  readonly #options: SavingTrashOptions;
  readonly #writer: BatchWriter;
  readonly #ahead: SaveAhead;
  /** The store refused the last chunk. */
  #refused: { readonly why: string; readonly until: Instant } | undefined;

  constructor(options: SavingTrashOptions) {
    const { store, clock, metrics } = options;
    this.#options = options;
    this.#writer = new BatchWriter({
      store,
      now: () => clock.now(),
      onStored: ({ objects, bytes }) => metrics.stored(objects, bytes),
    });
    this.#ahead = new SaveAhead((batch) => this.#storeAhead(batch));
  }

  async save(request: SaveRequest): Promise<Saved> {
    const { jobs, excludes, clock } = this.#options;
    const { kind, origin, object } = request;
    if (origin.isOwnTtl === true && !jobs) return { kind: 'notSaved' };
    if (excludes(kind)) return { kind: 'notSaved' };
    if (this.#refused !== undefined && !isDue(this.#refused.until, clock.now()))
      return this.#failed(request, this.#refused.why, this.#refused.until);
    if (await this.#ahead.isSaved(request)) return { kind: 'saved', object };
    const read = await this.#read(request);
    if ('failed' in read) return this.#failed(request, read.failed);
    const { live } = read;
    if (live === undefined || live.metadata.uid !== object.metadata.uid) return { kind: 'gone' };
    const { resourceVersion } = object.metadata;
    if (resourceVersion !== undefined && live.metadata.resourceVersion !== resourceVersion)
      return { kind: 'changed' };
    return this.#store(request, live);
  }

  async #read({
    read,
  }: SaveRequest): Promise<{ readonly live: KubeObject | undefined } | { readonly failed: string }> {
    try {
      return { live: await read() };
    } catch (error) {
      if (isRefusal(error)) return { failed: `it cannot be read: ${error.message}` };
      throw error;
    }
  }

  /** Returns the objects that were stored. */
  async #storeAhead(batch: readonly Ahead[]): Promise<Ahead[]> {
    const now = this.#options.clock.now();
    const written = await Promise.all(
      batch.map(({ request, live }) => this.#writer.write(buildRecord(live, request, now))),
    );
    return batch.filter((_, i) => written[i]?.kind === 'stored');
  }

  async #store(request: SaveRequest, live: KubeObject): Promise<Saved> {
    const { clock } = this.#options;
    try {
      const written = await this.#writer.write(buildRecord(live, request, clock.now()));
      this.#refused = undefined;
      return written.kind === 'stored'
        ? { kind: 'saved', object: live }
        : this.#failed(request, `it is too large: ${written.why}`);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const until = plus(clock.now(), RETRY);
      this.#refused = { why: error.message, until };
      return this.#failed(request, error.message, until);
    }
  }

  #failed({ kind, object }: SaveRequest, why: string, until?: Instant): Saved {
    const { onFailure, clock, log, metrics } = this.#options;
    metrics.failures.inc();
    if (onFailure === 'Hold') return { kind: 'failed', why, until: until ?? plus(clock.now(), RETRY) };
    const { namespace = '', name = '' } = object.metadata;
    log.warn(
      { object: `${kind.resource} ${namespace}/${name}`, because: why },
      'deleted without being saved',
    );
    return { kind: 'notSaved' };
  }
}
