// The progress of a recorded decision: what has been done, and writing it to status.

import { formatTime } from '@lapse/base/instant';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { Cleaner, type DeletionRecord } from '#api/cleaner';
import type { AuthorizedClient } from './authorizedClient.ts';
import { hasBegun } from './begun.ts';
import type { Context, Done } from './context.ts';
import { describeDecision } from './record.ts';
import { memoKey } from './reporter.ts';
import { type Report, writeStatus } from './status.ts';

export class Progress {
  readonly #ctx: ReconcileContext;
  readonly #context: Context;
  cleaner: Cleaner;
  record: DeletionRecord;
  /** The Cleaner changed or was deleted while progress was written. */
  lost = false;

  constructor(ctx: ReconcileContext, context: Context, cleaner: Cleaner, record: DeletionRecord) {
    this.#ctx = ctx;
    this.#context = context;
    this.cleaner = cleaner;
    this.record = record;
  }

  /** Deleting a Cleaner also stops its deletions, as soon as the cache shows it. */
  isWanted(): boolean {
    const known = this.#ctx.cache.get(Cleaner, this.#ctx.key)?.metadata;
    return known?.uid === this.cleaner.metadata.uid && known?.deletionTimestamp === undefined;
  }

  /** What this process has done for this decision. */
  done(): Done {
    const { evaluatedAt } = this.record;
    const key = memoKey(this.#ctx.key);
    const known = this.#context.done.get(key);
    if (known?.evaluatedAt === evaluatedAt) return known;
    const begun = { evaluatedAt, uids: new Set<string>(), told: false };
    this.#context.done.set(key, begun);
    return begun;
  }

  /** Notes once that the decision can no longer be discarded. */
  async noteStart(): Promise<'go on' | 'stop'> {
    if (this.record.startedAt !== undefined) return 'go on';
    return this.note(this.started());
  }

  /** The record after the first deletion. */
  started(): DeletionRecord {
    return { startedAt: formatTime(this.#ctx.now), ...this.record };
  }

  /** `started()` with its HMAC, as written to status. */
  signedStart(): Promise<DeletionRecord> {
    return this.#context.records.sign(this.cleaner, this.started());
  }

  /** `stop`: the Cleaner changed or was deleted, so this record is no longer current. */
  async note(unsigned: DeletionRecord): Promise<'go on' | 'stop'> {
    const record = await this.#context.records.sign(this.cleaner, unsigned);
    const written = await writeStatus(this.#ctx, this.cleaner, this.#deleting(record));
    if (written.kind === 'lost') {
      this.lost = true;
      return 'stop';
    }
    this.cleaner = written.cleaner;
    this.record = record;
    return 'go on';
  }

  #deleting(record: DeletionRecord): Report {
    return {
      ...this.kept(),
      reason: 'Deleting',
      message: `deleting ${describeDecision(record)}`,
      deletion: record,
    };
  }

  /** The parts of the last report that stay valid. */
  kept(): Pick<Report, 'shown' | 'evaluations'> {
    const { resolvedTargets, resolvedTargetCount, evaluations } = this.cleaner.status ?? {};
    return {
      ...(resolvedTargets === undefined
        ? {}
        : { shown: { resolvedTargets, resolvedTargetCount: resolvedTargetCount ?? resolvedTargets.length } }),
      ...(evaluations === undefined ? {} : { evaluations }),
    };
  }

  /** Without a client only the recorded progress is known. */
  async hasBegun(authorized: AuthorizedClient | undefined): Promise<boolean> {
    return authorized === undefined ? this.record.startedAt !== undefined : hasBegun(this.record, authorized);
  }
}
