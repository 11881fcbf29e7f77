// One fault at the nth request of a scenario, for crash matrices.

import type { Fault } from '@lapse/simulation/faults';
import { isWrite, type RequestInfo } from '@lapse/simulation/requestInfo';
import type { Simulation } from '@lapse/simulation/simulate';

export type Way = 'killed before' | 'killed after' | 'lost before' | 'lost after' | 'twice';
export const FAULTS: Record<Way, Fault> = {
  'killed before': { hang: 'before' },
  'killed after': { hang: 'after' },
  'lost before': { drop: 'before' },
  'lost after': { drop: 'after' },
  twice: { duplicate: true },
};

/** Applies the fault to the nth of the counted requests. Returns whether it was applied. */
export function arm(
  simulation: Simulation,
  index: number,
  way: Way,
  counts: (request: RequestInfo) => boolean = isWrite,
): () => boolean {
  let seen = 0;
  let hit = false;
  simulation.faults.answer((request: RequestInfo) => {
    if (!counts(request) || seen++ !== index) return false;
    hit = true;
    return true;
  }, FAULTS[way]);
  return () => hit;
}
