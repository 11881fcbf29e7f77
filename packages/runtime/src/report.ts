// What people are told, on the object itself, about a pass that did not go well. Not every failure: conflicts and
// restarts of the API server are weather. A refusal is told at once, anything else when it lasts.

import { ApiError } from '@lapse/kube/api/status';
import type { EventNote } from './events/types.ts';
import type { Outcome } from './outcome.ts';

export const STUCK_AFTER = 10;

/** `failures` counts this one. The same streak is told once, not at every retry. */
export function computeReport(
  outcome: Outcome,
  failures: number,
  stuckAfter = STUCK_AFTER,
): EventNote | undefined {
  switch (outcome.kind) {
    case 'terminal':
      return { type: 'Warning', action: 'Reconcile', reason: outcome.reason, note: outcome.message };
    case 'failed': {
      const { cause } = outcome;
      const isRefused = cause instanceof ApiError && cause.code === 403;
      if (isRefused && failures === 1)
        return { type: 'Warning', action: 'Reconcile', reason: 'Forbidden', note: cause.message };
      if (failures !== stuckAfter) return undefined;
      const note = `failed ${failures} times in a row, still trying: ${cause.message}`;
      return { type: 'Warning', action: 'Reconcile', reason: 'ReconcileFailing', note };
    }
    default:
      return undefined;
  }
}
