// Computes the Event for a reconcile that failed. A 403 and a terminal outcome are reported at once, other failures only
// after several in a row: single conflicts and API server restarts are normal.

import { ApiError } from '@lapse/kube/api/status';
import type { EventNote } from './events/types.ts';
import type { Outcome } from './outcome.ts';

export const STUCK_AFTER = 10;

/** `failures` includes this one. A streak of failures is reported once, not at every retry. */
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
