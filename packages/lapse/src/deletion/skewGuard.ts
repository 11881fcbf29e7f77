// The clock for decisions to delete. Objects carry timestamps of the API server; if the local clock is ahead, objects
// would expire early. If the API server's clock is behind, decisions use its time. While the difference is unknown or too
// large, nothing is deleted. The same applies to written timestamps that a TTL starts from: a clock that is behind would
// make the TTL expire early once the clock is corrected.

import { assertNever } from '@lapse/base/assertNever';
import type { Clock } from '@lapse/base/clock';
import { ceilSecond, type Instant, type Millis, millis, plus, seconds } from '@lapse/base/instant';
import { measureSkew, type Skew, type SkewEstimate } from '@lapse/kube/client/skew';
import type { DecisionTime } from '@lapse/runtime/decisionTime';
import type { Registry } from '@lapse/runtime/metrics/registry';

export type ClockState =
  | { readonly kind: 'good' }
  /** Too few responses so far to estimate the API server's clock. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'tooFar'; readonly offset: Millis };

export interface SkewGuard extends DecisionTime {
  /** Whether deletions are safe. Requests the API server's time if necessary, at most a few times in a row. */
  check(): Promise<ClockState>;
  /**
   * The timestamp to write where a TTL starts: whole seconds, the latest that the API server's clock may show. Call it
   * once per reconcile. Undefined while `check` is not good: write nothing and retry after `HOLD`.
   */
  stamp(): Promise<Instant | undefined>;
  readonly maxSkew: Millis;
}

export interface SkewGuardOptions {
  readonly clock: Clock;
  readonly skew: Skew;
  /** `client.raw` of a client whose responses `skew` observes. */
  readonly raw: (request: { method: string; path: string }) => Promise<unknown>;
  readonly registry: Registry;
  /** Above this skew nothing is deleted; default: 30 s. */
  readonly maxSkew?: Millis;
}

/** The retry interval of clock-dependent work while the clocks are not good. */
export const HOLD: Millis = seconds(30);
/** Below this difference the clocks count as equal: a Date header has whole seconds. */
const TOLERANCE = seconds(1);
/** While the clocks are too far apart, the API server's time is measured this often. */
const MEASURE_INTERVAL = seconds(15);
const SAMPLES = 3;

/**
 * What to add to the local clock: at most zero, and the lowest value that the estimate allows, so that a wrong estimate
 * can only delay a deletion. A clock that is ahead by at most the tolerance is not corrected, so a deletion may be early
 * by up to the tolerance.
 */
export function computeShift(estimate: SkewEstimate | undefined): Millis {
  if (estimate === undefined) return millis(0);
  const least = estimate.offset - estimate.uncertainty;
  return millis(least < -TOLERANCE ? least : 0);
}

/**
 * Corrects a timestamp before it is written: in both directions, to the latest value that the estimate allows. A clock
 * that is off by at most the tolerance is not corrected.
 */
export function computeStamp(local: Instant, estimate: SkewEstimate | undefined): Instant {
  const most = estimate === undefined ? 0 : estimate.offset + estimate.uncertainty;
  return ceilSecond(plus(local, millis(Math.abs(most) > TOLERANCE ? most : 0)));
}

export function computeClockState(estimate: SkewEstimate | undefined, maxSkew: Millis): ClockState {
  if (estimate === undefined) return { kind: 'unknown' };
  const { offset } = estimate;
  return Math.abs(offset) > maxSkew ? { kind: 'tooFar', offset } : { kind: 'good' };
}

/** For Events, the log and /readyz. Undefined while the clocks are good. */
export function describeClock(state: ClockState, maxSkew: Millis): string | undefined {
  switch (state.kind) {
    case 'good':
      return undefined;
    case 'unknown':
      return "nothing is deleted while the API server's clock is unknown: no answer has a usable Date header";
    case 'tooFar': {
      const apart = `the API server's clock differs by ${(state.offset / 1000).toFixed(0)} s from the local clock`;
      return `nothing is deleted while ${apart} (limit ${maxSkew / 1000} s)`;
    }
    default:
      return assertNever(state);
  }
}

function registerGauges(registry: Registry, skew: Skew, stateOf: () => ClockState): void {
  const gauge = (name: string, help: string, value: () => number) =>
    registry.gauge(name, help).collect(() => [[[], value()]]);
  gauge(
    'lapse_clock_skew_seconds',
    "The API server's clock minus the local clock.",
    () => (skew.estimate()?.offset ?? 0) / 1000,
  );
  gauge(
    'lapse_clock_uncertainty_seconds',
    'How far lapse_clock_skew_seconds may be off: half of the round trip and more.',
    () => (skew.estimate()?.uncertainty ?? 0) / 1000,
  );
  gauge('lapse_clock_held', '1 while the clocks are unknown or too far apart and nothing is deleted.', () =>
    stateOf().kind === 'good' ? 0 : 1,
  );
  gauge('lapse_clock_unknown', "1 while nothing is deleted because the API server's clock is unknown.", () =>
    stateOf().kind === 'unknown' ? 1 : 0,
  );
}

export function createSkewGuard(options: SkewGuardOptions): SkewGuard {
  const { clock, skew, raw, registry, maxSkew = seconds(30) } = options;
  let measuring: Promise<void> | undefined;
  let measuredAt = Number.NEGATIVE_INFINITY;
  let last: ClockState = { kind: 'good' };
  registerGauges(registry, skew, current);

  /** Not good only if the last deletion was held and the next one would be. (An idle process has no estimate either.) */
  function current(): ClockState {
    return last.kind === 'good' ? last : computeClockState(skew.estimate(), maxSkew);
  }

  const isTooFar = () => computeClockState(skew.estimate(), maxSkew).kind === 'tooFar';

  async function measure(): Promise<void> {
    measuredAt = clock.elapsed();
    // A failed request yields no sample; `check` reports the missing estimate.
    await measureSkew(skew, raw).catch(() => {});
    // The estimate is a median: a corrected clock is recognized after a few samples.
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

  async function check(): Promise<ClockState> {
    let state = computeClockState(skew.estimate(), maxSkew);
    if (state.kind !== 'good') {
      await measureOnce();
      state = computeClockState(skew.estimate(), maxSkew);
    }
    last = state;
    return state;
  }

  /** Concurrent callers share one measurement. */
  async function measureOnce(): Promise<void> {
    if (measuring === undefined && clock.elapsed() - measuredAt >= MEASURE_INTERVAL) {
      measuring = measure().finally(() => {
        measuring = undefined;
      });
    }
    await measuring;
  }
}

/** Uses the local clock without checks: for an API server in the same process, or if the operator disables the guard. */
export const trustedTime = (clock: Clock): SkewGuard => ({
  maxSkew: millis(Number.POSITIVE_INFINITY),
  now: () => clock.now(),
  localOf: (at) => at,
  check: async () => ({ kind: 'good' }),
  stamp: async () => ceilSecond(clock.now()),
});
