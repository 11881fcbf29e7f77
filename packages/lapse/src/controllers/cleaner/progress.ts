// A recorded decision while it is carried out: what has been done of it, and writing that down.

import { formatTime } from '@lapse/base/instant';
import type { Pass } from '@lapse/runtime/pass';
import { Cleaner, type DeletionRecord } from '#api/cleaner';
import { hasBegun } from './begun.ts';
import type { Context, Done } from './context.ts';
import type { Hands } from './hands.ts';
import { describeDecision } from './record.ts';
import { memoKey } from './reporter.ts';
import { type Report, writeStatus } from './status.ts';

export class Progress {
  readonly #pass: Pass;
  readonly #context: Context;
  cleaner: Cleaner;
  record: DeletionRecord;
  /** It changed or went away while something was noted. */
  lost = false;

  constructor(pass: Pass, context: Context, cleaner: Cleaner, record: DeletionRecord) {
    this.#pass = pass;
    this.#context = context;
    this.cleaner = cleaner;
    this.record = record;
  }

  /** Whoever deletes a Cleaner ends its deletion too, as soon as the cache has heard of it. */
  isWanted(): boolean {
    const known = this.#pass.cache.get(Cleaner, this.#pass.key)?.metadata;
    return known?.uid === this.cleaner.metadata.uid && known?.deletionTimestamp === undefined;
  }

  /** What this process has done of this very decision. */
  done(): Done {
    const { evaluatedAt } = this.record;
    const key = memoKey(this.#pass.key);
    const known = this.#context.done.get(key);
    if (known?.evaluatedAt === evaluatedAt) return known;
    const begun = { evaluatedAt, uids: new Set<string>(), told: false };
    this.#context.done.set(key, begun);
    return begun;
  }

  noteDeleted(what: 'target' | 'release object' | 'release record'): Promise<'go on' | 'stop'> {
    this.#context.metrics.deleted(what);
    return this.noteStart();
  }

  /** Notes once that there is no way back. */
  async noteStart(): Promise<'go on' | 'stop'> {
    if (this.record.startedAt !== undefined) return 'go on';
    return this.note(this.started());
  }

  /** The record once something is deleted. */
  started(): DeletionRecord {
    return { startedAt: formatTime(this.#pass.now), ...this.record };
  }

  /** The same, as it is written to status. */
  signedStart(): Promise<DeletionRecord> {
    return this.#context.records.sign(this.cleaner, this.started());
  }

  /** `stop`: it changed or went away, so that this record is not what goes on from here. */
  async note(unsigned: DeletionRecord): Promise<'go on' | 'stop'> {
    const record = await this.#context.records.sign(this.cleaner, unsigned);
    const written = await writeStatus(this.#pass, this.cleaner, this.#deleting(record));
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

  /** What was known about the Cleaner when it was decided. */
  kept(): Pick<Report, 'shown' | 'evaluations'> {
    const { resolvedTargets, resolvedTargetCount, evaluations } = this.cleaner.status ?? {};
    return {
      ...(resolvedTargets === undefined
        ? {}
        : { shown: { resolvedTargets, resolvedTargetCount: resolvedTargetCount ?? resolvedTargets.length } }),
      ...(evaluations === undefined ? {} : { evaluations }),
    };
  }

  /** Without hands only what was noted is known. */
  async hasBegun(hands: Hands | undefined): Promise<boolean> {
    return hands === undefined ? this.record.startedAt !== undefined : hasBegun(this.record, hands);
  }
}
