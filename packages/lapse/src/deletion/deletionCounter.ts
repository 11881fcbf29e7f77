// Counts, logs and reports accepted deletions, each exactly once: when the API server answers, or when the result of a
// DELETE without an answer is seen.

import { type Instant, type Millis, millis, minus } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import type { RegardingObject } from '@lapse/runtime/events/types';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { DeletionMetrics } from './metrics.ts';
import { idOf, OwnDeletions, type SentDelete, type TookEffect } from './ownDeletions.ts';

export interface Deleted<Reason = unknown> extends SentDelete<Reason> {
  /** `wouldDelete`: a dry run. It is counted once per object and deadline. */
  readonly outcome: 'deleted' | 'terminating' | 'wouldDelete';
  /** From the deadline to the accepted deletion. */
  readonly lag: Millis;
}

export interface DeletionCounterOptions<Reason> {
  readonly guard: { now(): Instant };
  readonly metrics: DeletionMetrics;
  /** For the labels of the controller. */
  readonly onDeleted?: (deleted: Deleted<Reason>) => void;
  /** The reason, for the log and the Event `Deleted`. */
  readonly describe?: (deleted: Deleted<Reason>) => string;
  /** Emit an Event on every deleted object with the reason. Default: false. */
  readonly deletionEvents?: boolean;
  /** Default: true. Set it to false if the controller does not observe the objects that it deletes. */
  readonly remembersAccepted?: boolean;
}

/** Undefined on a standby, which emits no Events. */
type MaybeContext = ReconcileContext | undefined;

export class DeletionCounter<Reason = unknown> {
  readonly own: OwnDeletions<Reason>;
  readonly #options: DeletionCounterOptions<Reason>;

  constructor(options: DeletionCounterOptions<Reason>) {
    this.#options = options;
    this.own = new OwnDeletions(options);
  }

  /**
   * The API server accepted the DELETE. `isThere`: whether the object still exists; without it, the object is not tracked
   * while it is terminating.
   */
  accepted(ctx: MaybeContext, { sent, outcome }: TookEffect<Reason>, isThere?: () => boolean): Millis {
    const { uid = '' } = sent.object.metadata;
    if (this.own.accept(idOf(sent), uid)) return this.#count(ctx, { sent, outcome }, isThere);
    this.#options.metrics.terminating(uid, isThere);
    return this.lag(sent);
  }

  /** Resolves a DELETE without an answer, given the current object. Returns it if it took effect. */
  resolve(
    ctx: MaybeContext,
    id: string,
    seen: KubeObject | undefined,
    isThere?: () => boolean,
  ): (TookEffect<Reason> & { readonly lag: Millis }) | undefined {
    const resolved = this.own.resolve(id, seen);
    return resolved && { ...resolved, lag: this.#count(ctx, resolved, isThere) };
  }

  /** Call it once per object and deadline. */
  wouldDelete(ctx: ReconcileContext, sent: SentDelete<Reason>): Millis {
    const lag = this.lag(sent);
    this.#options.onDeleted?.({ ...sent, outcome: 'wouldDelete', lag });
    emitEvent(ctx, sent, 'Normal', 'WouldDelete', `would have been deleted, ${afterDeadline(lag)} (dry run)`);
    return lag;
  }

  #count(ctx: MaybeContext, { sent, outcome }: TookEffect<Reason>, isThere?: () => boolean): Millis {
    const { metrics, onDeleted, describe, deletionEvents } = this.#options;
    const lag = this.lag(sent);
    const deleted = { ...sent, outcome, lag };
    const { uid = '' } = sent.object.metadata;
    metrics.outcome(outcome);
    metrics.lag.observe(lag / 1000);
    if (outcome === 'terminating') metrics.terminating(uid, isThere);
    else metrics.done(uid);
    onDeleted?.(deleted);
    const because = describe?.(deleted) ?? `deleted ${afterDeadline(lag)}`;
    ctx?.log.debug({ because, lagMs: lag, outcome }, 'deleted');
    if (deletionEvents === true) emitEvent(ctx, sent, 'Normal', 'Deleted', because);
    return lag;
  }

  /** From the deadline until now, by the clock that decisions use. */
  lag({ since }: Pick<SentDelete, 'since'>): Millis {
    return millis(Math.max(0, minus(this.#options.guard.now(), since)));
  }
}

/** An Event about a deletion. */
export function emitEvent(
  ctx: MaybeContext,
  { kind, object }: Pick<SentDelete, 'kind' | 'object'>,
  type: 'Normal' | 'Warning',
  reason: string,
  note: string,
): void {
  ctx?.event(regarding(kind, object), { type, reason, action: 'Delete', note });
}

/** `3.0 s after its deadline`. */
export const afterDeadline = (lag: Millis): string => `${(lag / 1000).toFixed(1)} s after its deadline`;

/** The API server returns metadata-only objects as PartialObjectMetadata; Events need the real kind. */
export const regarding = (kind: Kind, { metadata }: KubeObject): RegardingObject => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  metadata,
});
