// The speed of time in `lapse up`: a factor, and its clock.

import { type Clock, realClock } from '@lapse/base/clock';
import { Pace } from '@lapse/base/pace';
import { VirtualClock } from '@lapse/base/virtualClock';
import { UsageError } from '#manager/usage';
import type { ServerFlags } from '../serverCommand.ts';

const FASTEST = 1_000_000;

export function parseSpeed(text: string): number {
  const speed = Number(text);
  if (!/^\d*\.?\d+$/.test(text) || !(speed > 0 && speed <= FASTEST))
    throw new UsageError(
      `--speed must be a number above 0, at most ${FASTEST.toLocaleString('en')} (10080: a week in a minute), got "${text}"`,
    );
  return speed;
}

/**
 * At any speed except 1, stored timestamps would be in the future (or past) of the next start, so nothing is
 * stored.
 */
export function storeAtSpeed(
  speed: number,
  flags: ServerFlags,
  isGiven: (flag: 'data' | 'store') => boolean,
): ServerFlags['store'] {
  if (speed === 1) return flags.store;
  if (isGiven('data') || (isGiven('store') && flags.store !== 'memory'))
    throw new UsageError(
      `--speed ${speed} keeps everything in memory, since the stored times would be wrong at the next start; leave out ${
        isGiven('data') ? '--data' : '--store'
      }`,
    );
  return 'memory';
}

export interface Tempo {
  readonly clock: Clock;
  /** Starts the clock, at real speed until `hurry`. No effect at speed 1. */
  start(rest: () => Promise<void>): void;
  hurry(): void;
  stop(): Promise<void>;
}

export function createTempo(speed: number, real: Clock = realClock): Tempo {
  if (speed === 1) return { clock: real, start() {}, hurry() {}, stop: async () => {} };
  const virtual = new VirtualClock(real.now());
  let pace: Pace | undefined;
  return {
    clock: virtual,
    start(rest) {
      pace = new Pace({ virtual, real, speed: 1, rest });
      pace.start();
    },
    hurry: () => pace?.setSpeed(speed),
    stop: async () => pace?.stop(),
  };
}
