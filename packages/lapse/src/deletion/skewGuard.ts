// Time for decisions that destroy. Objects carry times of the API server's side of the world; if our clock runs ahead,
// "expired" comes early. So decisions are made in the server's time as soon as it is known to be behind ours, and not at
// all while the two are too far apart, or before we know how far. The same holds for times we write down that a countdown
// starts from: a clock that is behind would end it early once it is put right.

import { assertNever } from '@lapse/base/assertNever';
import type { Clock } from '@lapse/base/clock';
import { ceilSecond, type Instant, type Millis, millis, minus, plus, seconds } from '@lapse/base/instant';
import { measureSkew, type Skew, type SkewEstimate } from '@lapse/kube/client/skew';
import type { DecisionTime } from '@lapse/runtime/decisionTime';
import type { Registry } from '@lapse/runtime/metrics/registry';

export type ClockVerdict =
  | { readonly kind: 'good' }
  /** Not enough answers yet to know how far the server's clock is from ours. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'tooFar'; readonly offset: Millis };

export interface SkewGuard extends DecisionTime {
  /** May anything be deleted? Asks the server for the time when it has to; never more than a few times in a row. */
  check(): Promise<ClockVerdict>;
  /**
   * The time to write down where a countdown starts: whole seconds, the latest that the server's clock may show. Ask once
   * per pass. Undefined while `check` is not good: write nothing, and ask again after `HOLD`.
   */
  stamp(): Promise<Instant | undefined>;
  readonly maxSkew: Millis;
}

export interface SkewGuardOptions {
  readonly clock: Clock;
  readonly skew: Skew;
  /** `client.raw`, of a client whose answers `skew` observes. */
  readonly raw: (request: { method: string; path: string }) => Promise<unknown>;
  readonly registry: Registry;
  /** Beyond this nothing is deleted; 30 s unless told. */
  readonly maxSkew?: Millis;
}

/** What depends on the clocks is tried again this often while they are not good. */
export const HOLD: Millis = seconds(30);
/** Within this the clocks count as equal: a Date header has whole seconds. */
const TOLERANCE = seconds(1);
/** While the clocks are too far apart, the server is asked for its time this often. */
const LOOK_AGAIN = seconds(15);
const SAMPLES = 3;

/**
 * What to add to the local clock: never more than nothing, and the most pessimistic value the estimate allows, so that a
 * wrong estimate can only make us late. What remains: a clock that cannot be ahead by more than the tolerance is
 * believed, and may be early by as much.
 */
export function computeShift(estimate: SkewEstimate | undefined): Millis {
  if (estimate === undefined) return millis(0);
  const least = estimate.offset - estimate.uncertainty;
  return millis(least < -TOLERANCE ? least : 0);
}

/**
 * The counterpart for times we write down: in both directions, and the latest value the estimate allows. A clock that
 * cannot be off by more than the tolerance is believed here too.
 */
export function computeStamp(local: Instant, estimate: SkewEstimate | undefined): Instant {
  const most = estimate === undefined ? 0 : estimate.offset + estimate.uncertainty;
  return ceilSecond(plus(local, millis(Math.abs(most) > TOLERANCE ? most : 0)));
}

export function computeVerdict(estimate: SkewEstimate | undefined, maxSkew: Millis): ClockVerdict {
  if (estimate === undefined) return { kind: 'unknown' };
  const { offset } = estimate;
  return Math.abs(offset) > maxSkew ? { kind: 'tooFar', offset } : { kind: 'good' };
}

/** For Events, the log and /readyz. Undefined while the clocks are good. */
export function describeClock(verdict: ClockVerdict, maxSkew: Millis): string | undefined {
  switch (verdict.kind) {
    case 'good':
      return undefined;
    case 'unknown':
      return "nothing is deleted while the API server's clock is unknown: no answer has a usable Date header";
    case 'tooFar': {
      const apart = `the API server's clock is ${(verdict.offset / 1000).toFixed(0)} s from ours`;
      return `nothing is deleted while ${apart} (limit ${maxSkew / 1000} s)`;
    }
    default:
      return assertNever(verdict);
  }
}

export function createSkewGuard(options: SkewGuardOptions): SkewGuard {
  const { clock, skew, raw, registry, maxSkew = seconds(30) } = options;
  let measuring: Promise<void> | undefined;
  let measuredAt = Number.NEGATIVE_INFINITY;
  let last: ClockVerdict = { kind: 'good' };
  const gauge = (name: string, help: string, value: () => number) =>
    registry.gauge(name, help).collect(() => [[[], value()]]);
  gauge(
    'lapse_clock_skew_seconds',
    "The API server's clock minus ours.",
    () => (skew.estimate()?.offset ?? 0) / 1000,
  );
  gauge(
    'lapse_clock_uncertainty_seconds',
    'How far lapse_clock_skew_seconds may be off: half of the round trip and more.',
    () => (skew.estimate()?.uncertainty ?? 0) / 1000,
  );
  gauge('lapse_clock_held', '1 while the clocks are unknown or too far apart and nothing is deleted.', () =>
    current().kind === 'good' ? 0 : 1,
  );
  gauge('lapse_clock_unknown', "1 while nothing is deleted because the API server's clock is unknown.", () =>
    current().kind === 'unknown' ? 1 : 0,
  );

  /** Not good while the last deletion was held and the next one would be: an idle process knows no clock either. */
  function current(): ClockVerdict {
    return last.kind === 'good' ? last : computeVerdict(skew.estimate(), maxSkew);
  }

  const isTooFar = () => computeVerdict(skew.estimate(), maxSkew).kind === 'tooFar';

  async function measure(): Promise<void> {
    measuredAt = clock.elapsed();
    // A failed question is an answer that is missing; the verdict says so.
    await measureSkew(skew, raw).catch(() => {});
    // The estimate is a median: a clock that was put right is believed after a few answers.
    for (let asked = 0; asked < SAMPLES && isTooFar(); asked++)
      await raw({ method: 'GET', path: '/version' }).catch(() => {});
  }

  return {
    maxSkew,
    now: () => plus(clock.now(), computeShift(skew.estimate())),
    localOf: (at) => plus(at, millis(-computeShift(skew.estimate()))),
    check,
    problem: () => describeClock(current(), maxSkew),
    async stamp() {
      const { kind } = await check();
      return kind === 'good' ? computeStamp(clock.now(), skew.estimate()) : undefined;
    },
  };

  async function check(): Promise<ClockVerdict> {
    let verdict = computeVerdict(skew.estimate(), maxSkew);
    if (verdict.kind !== 'good') {
      await look();
      verdict = computeVerdict(skew.estimate(), maxSkew);
    }
    last = verdict;
    return verdict;
  }

  /** Everybody who asks at the same time shares one measurement. */
  async function look(): Promise<void> {
    if (measuring === undefined && clock.elapsed() - measuredAt >= LOOK_AGAIN) {
      measuring = measure().finally(() => {
        measuring = undefined;
      });
    }
    await measuring;
  }
}

/** The local clock, unquestioned: for a server in the same process, or by an operator's explicit wish. */
export const trustedTime = (clock: Clock): SkewGuard => ({
  maxSkew: millis(Number.POSITIVE_INFINITY),
  now: () => clock.now(),
  localOf: (at) => at,
  check: async () => ({ kind: 'good' }),
  stamp: async () => ceilSecond(clock.now()),
});

/** How far an instant lies in the future beyond what differing clocks explain; 0 when it does not. */
export function beyondTolerance(at: Instant, now: Instant, maxSkew: Millis): Millis {
  const ahead = minus(at, now) - maxSkew;
  return millis(Math.max(0, ahead));
}
