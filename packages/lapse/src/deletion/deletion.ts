// What may come of deleting one object, and what the worker should do about each.

import { assertNever } from '@lapse/base/assertNever';
import type { Instant, Millis } from '@lapse/base/instant';
import type { ApiError } from '@lapse/kube/api/status';
import { again, failed, type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';

/** `clock ahead`: due by our clock, not yet by the server's. */
export type HeldBecause = 'clock unknown' | 'clock skew' | 'clock ahead' | 'budget';

export type Deletion<Verdict = never> =
  /** Gone, and we did it. `lag` is how long after its deadline. */
  | { readonly kind: 'deleted'; readonly lag: Millis }
  /** Accepted; finalizers or foreground deletion keep it for now. */
  | { readonly kind: 'terminating'; readonly lag: Millis }
  /** It was gone, or it is another object by now. */
  | { readonly kind: 'gone' }
  /** It changed meanwhile, and is not to be deleted any more. */
  | { readonly kind: 'kept'; readonly verdict: Verdict }
  /** It changes faster than we can ask. */
  | { readonly kind: 'contended' }
  /** A webhook or somebody else's rule said no. */
  | { readonly kind: 'refused'; readonly error: ApiError }
  /** Not now, for reasons that have nothing to do with the object. */
  | { readonly kind: 'held'; readonly until: Instant; readonly because: HeldBecause }
  /** A dry run: it would have been deleted. */
  | { readonly kind: 'wouldDelete'; readonly lag: Millis };

/** What follows for the key; what to do with something that is kept only the caller knows. */
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
