// Estimates the offset of the server's clock from the Date headers of ordinary responses. A controller whose clock is
// ahead would delete objects too early.

import type { Clock } from '@lapse/base/clock';
import { parseHttpDate } from '@lapse/base/httpDate';
import { type Millis, millis, minutes, seconds } from '@lapse/base/instant';
import type { Exchange } from './deadline.ts';
import { headerOf } from './transport.ts';

export interface SkewEstimate {
  /** Server time minus local time. Negative: the local clock is ahead. */
  readonly offset: Millis;
  /** Maximum error of the offset: a Date header has whole seconds, and a response takes time. */
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
  /** Wall minus monotonic time at the sample. A different value later means that the local clock was set. */
  readonly base: number;
}

const MAX_SAMPLES = 15;
const MIN_SAMPLES = 3;
/** Slower responses are less certain. They count only while there are not enough faster ones. */
const FAST = seconds(2);
const MAX_AGE = minutes(30);
/** Date is truncated to whole seconds: on average the server is half a second ahead of it. */
const TRUNCATION = 500;
/** Responses of a burst carry the same information. Samples at different fractions of a second are more useful. */
const MIN_DISTANCE = millis(50);
/** Slewing moves a clock by less than this between two checks. A set clock or a suspended machine moves it by more. */
const CLOCK_SET = 500;

export function createSkew(clock: Clock): Skew {
  let samples: Sample[] = [];
  /** Cached estimate for the current samples; it is read several times per request. */
  let known: { readonly estimate: SkewEstimate | undefined; readonly base: number } | undefined;

  const baseNow = () => clock.now() - clock.elapsed();

  /** Drops samples that are old or were taken before the local clock was set. */
  function dropUnusable(base: number): void {
    const elapsed = clock.elapsed();
    const isUsable = (sample: Sample) =>
      elapsed - sample.takenAt <= MAX_AGE && Math.abs(base - sample.base) <= CLOCK_SET;
    if (samples.every(isUsable)) return;
    samples = samples.filter(isUsable);
    known = undefined;
  }

  /** Drops the oldest slow sample, or the oldest of all. */
  function dropOne(): void {
    const slow = samples.findIndex(({ isFast }) => !isFast);
    samples.splice(Math.max(0, slow), 1);
  }

  return {
    observe({ headers = {}, sentAt, roundTrip }) {
      if (samples.length >= MAX_SAMPLES && clock.elapsed() - samples.at(-1)!.takenAt < MIN_DISTANCE) return;
      const date = parseHttpDate(headerOf(headers, 'date') ?? '');
      // A cached response carries the date at which it was stored.
      if (date === undefined || headerOf(headers, 'age') !== undefined) return;
      // The clock was set between request and response, so the middle is unknown.
      if (Math.abs(clock.now() - sentAt - roundTrip) > CLOCK_SET) return;
      samples.push({
        offset: date + TRUNCATION - (sentAt + roundTrip / 2),
        uncertainty: TRUNCATION + roundTrip / 2,
        isFast: roundTrip <= FAST,
        takenAt: clock.elapsed(),
        base: baseNow(),
      });
      if (samples.length > MAX_SAMPLES) dropOne();
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
 * Every sample defines an interval: offset ± uncertainty. The estimate is the intersection of all intervals; it is
 * narrower the more the samples differ in their fractions of a second. If there is no intersection, some samples are
 * wrong, and the median is used.
 */
function computeEstimate(all: readonly Sample[], base: number): SkewEstimate | undefined {
  const fast = all.filter(({ isFast }) => isFast);
  const samples = fast.length >= MIN_SAMPLES ? fast : all;
  if (samples.length < MIN_SAMPLES) return undefined;
  // The amount by which the local clock was slewed since the sample is known exactly.
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
  // Of two medians use the lower one: it causes later deletions, not earlier ones.
  const { offset, uncertainty } = ordered[Math.floor((ordered.length - 1) / 2)]!;
  return { offset: millis(offset), uncertainty: millis(uncertainty), samples: samples.length };
}

/** Requests the server's version, which all clients may read, until there is an estimate. Limited to a few attempts. */
export async function measureSkew(
  skew: Skew,
  raw: (request: { method: string; path: string }) => Promise<unknown>,
): Promise<SkewEstimate | undefined> {
  for (let requests = 0; requests < MIN_SAMPLES + 2 && skew.estimate() === undefined; requests++)
    await raw({ method: 'GET', path: '/version' });
  return skew.estimate();
}
