// Exponential delays with jitter. Pure: the caller keeps the count, the clock and the chance.

import { type Millis, millis } from './instant.ts';
import type { Random } from './random.ts';

export interface BackoffOptions {
  /** The first delay. */
  readonly first: Millis;
  /** The longest delay, jitter included. */
  readonly max: Millis;
  /** Growth per failure; 2 unless told. */
  readonly factor?: number;
  /** Share of the delay that is random, 0 to 1; 0.5 unless told: half is certain, half is chance. */
  readonly jitter?: number;
}

/** The delay before attempt `failures + 1`; `failures` counts from 1. */
export function computeBackoff(failures: number, options: BackoffOptions, random: Random): Millis {
  const { first, max, factor = 2, jitter = 0.5 } = options;
  const full = Math.min(max, first * factor ** Math.max(0, failures - 1));
  return millis(full * (1 - jitter) + full * jitter * random.next());
}
