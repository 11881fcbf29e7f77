// How far the server's clock is from ours, from the Date header of answers we get anyway. A controller whose clock runs
// ahead would delete early; this is how it knows.

import type { Clock } from '@lapse/base/clock';
import { parseHttpDate } from '@lapse/base/httpDate';
import { type Millis, millis, minutes, seconds } from '@lapse/base/instant';
import type { Exchange } from './deadline.ts';
import { headerOf } from './transport.ts';

export interface SkewEstimate {
  /** Server time minus local time. Negative: our clock is ahead. */
  readonly offset: Millis;
  /** The offset is right to this much: a Date has whole seconds, and an answer takes its time. */
  readonly uncertainty: Millis;
  readonly samples: number;
}

export interface Skew {
  /** For `createClient({ observe })`. */
  observe(exchange: Exchange): void;
  /** Undefined until there are enough samples, and again after the local clock was set. */
  estimate(): SkewEstimate | undefined;
}

interface Sample {
  readonly offset: number;
  readonly uncertainty: number;
  readonly isFast: boolean;
  readonly takenAt: number;
  /** Wall minus monotonic time when it was taken: another value later means that the local clock was set since. */
  readonly base: number;
}

const KEPT = 15;
const LEAST = 3;
/** Slower answers are less certain: they count only while there are not enough faster ones. */
const FAST = seconds(2);
const OLDEST = minutes(30);
/** Date is cut to whole seconds: on average the server is half a second further. */
const TRUNCATION = 500;
/** Of a burst every answer says the same; samples at different moments of the second say more, and cost less. */
const APART = millis(50);
/** A clock that is slewed moves less than this between two looks; one that was set, or a machine that slept, more. */
const CLOCK_SET = 500;

export function createSkew(clock: Clock): Skew {
  let samples: Sample[] = [];
  /** Of the samples as they are; asked for several times per request. */
  let known: { readonly estimate: SkewEstimate | undefined; readonly base: number } | undefined;

  const baseNow = () => clock.now() - clock.elapsed();

  /** Forgets samples that are old, or were taken before the local clock was set. */
  function dropUnusable(base: number): void {
    const elapsed = clock.elapsed();
    const isUsable = (sample: Sample) =>
      elapsed - sample.takenAt <= OLDEST && Math.abs(base - sample.base) <= CLOCK_SET;
    if (samples.every(isUsable)) return;
    samples = samples.filter(isUsable);
    known = undefined;
  }

  /** The oldest of the slow ones, or of all. */
  function dropOne(): void {
    const slow = samples.findIndex(({ isFast }) => !isFast);
    samples.splice(Math.max(0, slow), 1);
  }

  return {
    observe({ headers = {}, sentAt, roundTrip }) {
      if (samples.length >= KEPT && clock.elapsed() - samples.at(-1)!.takenAt < APART) return;
      const date = parseHttpDate(headerOf(headers, 'date') ?? '');
      // An answer out of a cache has the date of the day it was stored.
      if (date === undefined || headerOf(headers, 'age') !== undefined) return;
      // Set between question and answer: where the middle was, nobody knows.
      if (Math.abs(clock.now() - sentAt - roundTrip) > CLOCK_SET) return;
      samples.push({
        offset: date + TRUNCATION - (sentAt + roundTrip / 2),
        uncertainty: TRUNCATION + roundTrip / 2,
        isFast: roundTrip <= FAST,
        takenAt: clock.elapsed(),
        base: baseNow(),
      });
      if (samples.length > KEPT) dropOne();
      known = undefined;
    },
    estimate() {
      const base = baseNow();
      dropUnusable(base);
      if (known === undefined || Math.abs(known.base - base) > 1)
        known = { estimate: computeEstimate(samples, base), base };
      return known.estimate;
    },
  };
}

/**
 * Every sample says: between offset − uncertainty and offset + uncertainty. Where they all agree is the answer, which is
 * the narrower the more different the moments of their seconds were. If they do not agree, something is strange about
 * some of them, and the one in the middle is believed.
 */
function computeEstimate(all: readonly Sample[], base: number): SkewEstimate | undefined {
  const fast = all.filter(({ isFast }) => isFast);
  const samples = fast.length >= LEAST ? fast : all;
  if (samples.length < LEAST) return undefined;
  // What the local clock was slewed since is known exactly.
  const moved = samples.map((sample) => ({ ...sample, offset: sample.offset - (base - sample.base) }));
  const least = Math.max(...moved.map(({ offset, uncertainty }) => offset - uncertainty));
  const most = Math.min(...moved.map(({ offset, uncertainty }) => offset + uncertainty));
  if (least <= most)
    return {
      offset: millis((least + most) / 2),
      uncertainty: millis((most - least) / 2),
      samples: samples.length,
    };
  const ordered = moved.toSorted((a, b) => a.offset - b.offset);
  // Of two in the middle the lower: whoever believes it deletes later, not earlier.
  const { offset, uncertainty } = ordered[Math.floor((ordered.length - 1) / 2)]!;
  return { offset: millis(offset), uncertainty: millis(uncertainty), samples: samples.length };
}

/** Asks for the server's version, which everybody may read, until there is an estimate; a few times at most. */
export async function measureSkew(
  skew: Skew,
  raw: (request: { method: string; path: string }) => Promise<unknown>,
): Promise<SkewEstimate | undefined> {
  for (let asked = 0; asked < LEAST + 2 && skew.estimate() === undefined; asked++)
    await raw({ method: 'GET', path: '/version' });
  return skew.estimate();
}
