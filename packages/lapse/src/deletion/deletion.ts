// The possible results of deleting one object, and the reconcile outcome for each.

import { assertNever } from '@lapse/base/assertNever';
import type { Instant, Millis } from '@lapse/base/instant';
import type { ApiError } from '@lapse/kube/api/status';
import { again, failed, type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';

/** `clock ahead`: the object is due by the local clock but not yet by the API server's clock. */
export type HeldBecause = 'clock unknown' | 'clock skew' | 'clock ahead' | 'budget';

export type Deletion<Verdict = never> =
  /** Deleted by this process. `lag`: time from the deadline to the deletion. */
  | { readonly kind: 'deleted'; readonly lag: Millis }
  /** The API server accepted the deletion. Finalizers or foreground deletion keep the object for now. */
  | { readonly kind: 'terminating'; readonly lag: Millis }
  /** The object no longer exists, or another object has its name. */
  | { readonly kind: 'gone' }
  /** The object changed since the decision and is no longer to be deleted. */
  | { readonly kind: 'kept'; readonly verdict: Verdict }
  /** The object changed in every round, so each DELETE failed its preconditions. */
  | { readonly kind: 'contended' }
  /** An admission webhook or another rule of the cluster refused the deletion. */
  | { readonly kind: 'refused'; readonly error: ApiError }
  /** Postponed, for a reason that does not depend on the object. */
  | { readonly kind: 'held'; readonly until: Instant; readonly because: HeldBecause }
  /** Dry run: the object would have been deleted. */
  | { readonly kind: 'wouldDelete'; readonly lag: Millis };

/** The reconcile outcome of a deletion. The caller supplies the outcome for `kept`. */
export function outcomeOf<Verdict>(
  deletion: Deletion<Verdict>,
  kept: (verdict: Verdict) => Outcome,
): Outcome {
  switch (deletion.kind) {
    case 'deleted':
    case 'terminating':
    case 'gone':
    case 'wouldDelete':
      return settled();
    case 'kept':
      return kept(deletion.verdict);
    case 'contended':
      return again('contended');
    case 'refused':
      return failed(deletion.error);
    case 'held':
      return waitUntil(deletion.until, `held: ${deletion.because}`);
    default:
      return assertNever(deletion);
  }
}
