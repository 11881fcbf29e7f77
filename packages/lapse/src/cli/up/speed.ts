// How fast time runs in `lapse up`: a number, and the clock that goes with it.

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

/** At any speed but life's, stored times would lie in the future (or the past) of the next start: nothing is kept. */
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
  /** Time begins to run, as fast as life until `hurry`. Without effect at life's own speed. */
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
