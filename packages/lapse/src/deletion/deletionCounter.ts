// Counts, logs and reports an accepted deletion. Every accepted deletion passes here exactly once: when the API server
// answers, or when the result of a DELETE without an answer is seen.

import type { Millis } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import type { Regarded } from '@lapse/runtime/events/types';
import type { Pass } from '@lapse/runtime/pass';
import type { DeletionMetrics } from './deletionMetrics.ts';
import type { SentDelete } from './ownDeletions.ts';

export interface Deleted<Reason = unknown> extends SentDelete<Reason> {
  /** `wouldDelete`: a dry run. It is counted once per object and deadline. */
  readonly outcome: 'deleted' | 'terminating' | 'wouldDelete';
  /** From the deadline to the accepted deletion. */
  readonly lag: Millis;
}

export interface DeletionCounterOptions<Reason> {
  readonly metrics: DeletionMetrics;
  /** For the labels of the controller. */
  readonly onDeleted?: (deleted: Deleted<Reason>) => void;
  /** The reason, for the log and the Event `Deleted`. */
  readonly describe?: (deleted: Deleted<Reason>) => string;
  /** Emit an Event on every deleted object with the reason. Default: false. */
  readonly deletionEvents?: boolean;
}

export class DeletionCounter<Reason = unknown> {
  readonly #options: DeletionCounterOptions<Reason>;

  constructor(options: DeletionCounterOptions<Reason>) {
    this.#options = options;
  }

  /**
   * `pass`: undefined on a standby, which does not emit Events. `isThere`: whether the object still exists; without it,
   * the object is not tracked while it is terminating.
   */
  count(pass: Pass | undefined, deleted: Deleted<Reason>, isThere?: () => boolean): void {
    const { metrics, onDeleted, describe, deletionEvents } = this.#options;
    const { object, outcome, lag } = deleted;
    onDeleted?.(deleted);
    if (outcome === 'wouldDelete') {
      const note = `would have been deleted, ${afterDeadline(lag)} (dry run)`;
      emit(pass, deleted, 'WouldDelete', note);
      return;
    }
    metrics.outcome(outcome);
    metrics.lag.observe(lag / 1000);
    const { uid = '' } = object.metadata;
    if (outcome === 'terminating') metrics.terminating(uid, isThere);
    else metrics.done(uid);
    const because = describe?.(deleted);
    pass?.log.debug({ because, lagMs: lag, outcome }, 'deleted');
    if (deletionEvents === true) emit(pass, deleted, 'Deleted', because ?? `deleted ${afterDeadline(lag)}`);
  }
}

function emit(pass: Pass | undefined, { kind, object }: Deleted, reason: string, note: string): void {
  pass?.event(regarding(kind, object), { type: 'Normal', reason, action: 'Delete', note });
}

/** `3.0 s after its deadline`. */
export const afterDeadline = (lag: Millis): string => `${(lag / 1000).toFixed(1)} s after its deadline`;

/** The API server returns metadata-only objects as PartialObjectMetadata; Events need the real kind. */
export const regarding = (kind: Kind, { metadata }: KubeObject): Regarded => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  metadata,
});
