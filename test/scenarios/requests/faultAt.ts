// One fault at one request of a story, by its number: what a crash matrix goes through.

import type { Fault } from '@lapse/simulation/faults';
import { isWrite, type SeenRequest } from '@lapse/simulation/seen';
import type { Simulation } from '@lapse/simulation/simulate';

export type Way = 'killed before' | 'killed after' | 'lost before' | 'lost after' | 'twice';
export const FAULTS: Record<Way, Fault> = {
  'killed before': { hang: 'before' },
  'killed after': { hang: 'after' },
  'lost before': { drop: 'before' },
  'lost after': { drop: 'after' },
  twice: { duplicate: true },
};

/** The request of this number, of those that count, meets the fault. Says whether it came to that. */
export function arm(
  simulation: Simulation,
  index: number,
  way: Way,
  counts: (request: SeenRequest) => boolean = isWrite,
): () => boolean {
  let seen = 0;
  let hit = false;
  simulation.faults.answer((request: SeenRequest) => {
    if (!counts(request) || seen++ !== index) return false;
    hit = true;
    return true;
  }, FAULTS[way]);
  return () => hit;
}
