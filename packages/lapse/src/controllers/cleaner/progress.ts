// The progress of a recorded decision: what has been done, and writing it to status.

import { formatTime } from '@lapse/base/instant';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { Cleaner, DeletionRecord } from '#api/cleaner';
import type { AuthorizedClient } from '#authors/authorizedClient';
import { isPurgeBegun } from '#helm/readStorage';
import type { UninstallProgress } from '#helm/uninstall';
import type { Context } from './context.ts';
import { describeDecision, kindOf } from './record.ts';
import { keptOf, writeStatus } from './status.ts';
import { keyId } from './waits.ts';

/** What this process has done for a decision. */
export interface Done {
  /** `evaluatedAt` of the decision. */
  readonly evaluatedAt: string;
  /** UIDs for which no further DELETE is needed. */
  readonly uids: Set<string>;
  /** The Event about the uninstalled release has been emitted. */
  reported: boolean;
}

export class Progress implements UninstallProgress {
  readonly #ctx: ReconcileContext;
  readonly #context: Context;
  cleaner: Cleaner;
  record: DeletionRecord;
  /** The client that the decision is carried out with. Until it is set, only the recorded progress is known. */
  client: AuthorizedClient | undefined;
  /** The Cleaner changed or was deleted while progress was written. */
  lost = false;
  /** This reconcile noted the start, and no DELETE has been accepted since. */
  #isUnconfirmed = false;

  constructor(ctx: ReconcileContext, context: Context, cleaner: Cleaner, record: DeletionRecord) {
    this.#ctx = ctx;
    this.#context = context;
    this.cleaner = cleaner;
    this.record = record;
  }

  /** What this process has done for this decision. */
  done(): Done {
    const { evaluatedAt } = this.record;
    const key = keyId(this.#ctx.key);
    const known = this.#context.done.get(key);
    if (known?.evaluatedAt === evaluatedAt) return known;
    const begun = { evaluatedAt, uids: new Set<string>(), reported: false };
    this.#context.done.set(key, begun);
    return begun;
  }

  /**
   * Notes the start before the first DELETE. The write carries the resourceVersion of the Cleaner, so it fails if a user
   * delayed the Cleaner before. False: nothing may be deleted.
   */
  async mayDelete(): Promise<boolean> {
    if (this.record.startedAt !== undefined) return true;
    this.#isUnconfirmed = true;
    return (await this.note(this.started())) === 'go on';
  }

  /** Notes once that the decision can no longer be discarded. */
  async noteStart(): Promise<'go on' | 'stop'> {
    this.#isUnconfirmed = false;
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
    const written = await writeStatus(this.#ctx, this.cleaner, {
      ...keptOf(this.cleaner),
      reason: 'Deleting',
      message: `deleting ${describeDecision(record)}`,
      deletion: record,
    });
    if (written.kind === 'lost') {
      this.lost = true;
      return 'stop';
    }
    this.cleaner = written.cleaner;
    this.record = record;
    return 'go on';
  }

  get hooks(): UninstallProgress['hooks'] {
    return this.record.helm?.hooks ?? {};
  }

  noteHooks(hooks: UninstallProgress['hooks']): Promise<'go on' | 'stop'> {
    return this.note({ ...this.record, helm: { ...this.record.helm!, hooks } });
  }

  /**
   * Whether the decision has led to a deletion. The start is noted before the first DELETE, so the targets show whether it
   * took effect. What a Helm uninstall has done cannot be seen from its records alone: there the note counts.
   */
  async hasBegun(): Promise<boolean> {
    const { client, record } = this;
    const isNoted = record.startedAt !== undefined && !this.#isUnconfirmed;
    if (client === undefined || (isNoted && record.helm !== undefined)) return isNoted;
    const { namespace = '' } = this.#ctx.key;
    for (const target of record.targets) {
      const read = await client.getMetadata(kindOf(target), { namespace, name: target.name });
      if (read.kind !== 'read') {
        if (isNoted) return true;
        continue;
      }
      const { uid, deletionTimestamp } = read.value?.metadata ?? {};
      if (uid !== target.uid || deletionTimestamp !== undefined) return true;
    }
    return record.helm !== undefined && isPurgeBegun(client, namespace, record.helm);
  }
}
