// The steps of a round: traffic (actions of a user) mixed with faults, drawn from a seed. Plain data, so that it can be
// printed, replayed and read.

import type { Random } from '@lapse/base/random';
import type { Fault } from '@lapse/simulation/faults';
import type { WatchBreak } from '@lapse/simulation/streams';

export type Step =
  | { readonly do: 'put' | 'move' | 'replace'; readonly name: string; readonly endsIn: number }
  | { readonly do: 'touch' | 'remove'; readonly name: string }
  /** A user does this just before the process deletes it. */
  | {
      readonly do: 'race';
      readonly name: string;
      readonly with: 'move' | 'replace' | 'touch';
      readonly endsIn: number;
    }
  | { readonly do: 'fault'; readonly on: string; readonly fault: Fault; readonly times: number }
  | { readonly do: 'break'; readonly how: WatchBreak }
  | { readonly do: 'clock'; readonly offset: number }
  | { readonly do: 'slow'; readonly delay: number }
  | { readonly do: 'hold' | 'release' | 'twice' | 'compact' | 'crash' | 'restart' | 'heal' }
  | { readonly do: 'pass'; readonly length: number };

const NAMES = ['a', 'b', 'c', 'd'];
const SECOND = 1000;

type Draw = (dice: Dice) => Step;

/** A seeded random source for numbers and choices. */
interface Dice {
  below(most: number): number;
  one<T>(of: readonly T[]): T;
}

const diceOf = (random: Random): Dice => {
  const below = (most: number) => Math.floor(random.next() * most);
  return { below, one: (of) => of[below(of.length)]! };
};

const seconds = (dice: Dice, most: number): number => (1 + dice.below(most)) * SECOND;
const name = (dice: Dice): string => dice.one(NAMES);

const FAULTS: readonly Fault[] = [
  { answer: 403 },
  { answer: 409 },
  { answer: 429, retryAfter: 2 },
  { answer: 500 },
  { answer: 503 },
  { drop: 'before' },
  { drop: 'after' },
  { hang: 'before' },
  { hang: 'after' },
  { delay: 7000 as never, when: 'before' },
  { delay: 7000 as never, when: 'after' },
  { duplicate: true },
  { unreachable: true },
];
const TARGETS = ['DELETE', 'DELETE', 'DELETE', 'DELETE', 'get', 'patch', 'watch', 'list', '*'];

const TRAFFIC: readonly (readonly [weight: number, Draw])[] = [
  [6, (d) => ({ do: 'put', name: name(d), endsIn: seconds(d, 60) })],
  [4, (d) => ({ do: 'move', name: name(d), endsIn: seconds(d, 90) })],
  [2, (d) => ({ do: 'replace', name: name(d), endsIn: seconds(d, 60) })],
  [2, (d) => ({ do: 'touch', name: name(d) })],
  [1, (d) => ({ do: 'remove', name: name(d) })],
  [
    6,
    (d) => ({
      do: 'race',
      name: name(d),
      with: d.one(['move', 'replace', 'touch']),
      endsIn: seconds(d, 120),
    }),
  ],
  [9, (d) => ({ do: 'pass', length: 1 + d.below(30_000) })],
];

const WEATHER: readonly (readonly [weight: number, Draw])[] = [
  [12, (d) => ({ do: 'fault', on: d.one(TARGETS), fault: d.one(FAULTS), times: 1 + d.below(3) })],
  [2, (d) => ({ do: 'break', how: d.one(['end', 'cut', 'gone']) })],
  [2, () => ({ do: 'hold' })],
  [2, () => ({ do: 'release' })],
  [1, () => ({ do: 'twice' })],
  [1, () => ({ do: 'compact' })],
  [2, () => ({ do: 'crash' })],
  [3, () => ({ do: 'restart' })],
  [2, (d) => ({ do: 'clock', offset: d.below(50_000) - 25_000 })],
  [1, (d) => ({ do: 'slow', delay: d.below(4000) })],
  [3, () => ({ do: 'heal' })],
];

export interface ProgramOptions {
  readonly steps: number;
  /** How many of ten steps are faults. Default: 3. */
  readonly storm?: number;
}

export function drawProgram(random: Random, { steps, storm = 3 }: ProgramOptions): Step[] {
  const dice = diceOf(random);
  return Array.from({ length: steps }, () => pick(dice, dice.below(10) < storm ? WEATHER : TRAFFIC)(dice));
}

function pick(dice: Dice, table: readonly (readonly [number, Draw])[]): Draw {
  let left = dice.below(table.reduce((sum, [weight]) => sum + weight, 0));
  for (const [weight, draw] of table) {
    if (left < weight) return draw;
    left -= weight;
  }
  throw new Error('unreachable: the weights add up');
}
