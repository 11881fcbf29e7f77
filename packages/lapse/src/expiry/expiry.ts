// Computes when an object expires: `finish + ttl`, due from exactly that instant on. Pure: the callers read the finish
// time and the TTL and pass them as unions that contain the reason. The reconcilers, `explain`, `plan` and the simulator
// use the same result.

import { assertNever } from '@lapse/base/assertNever';
import { formatGoDuration } from '@lapse/base/goDuration';
import {
  formatTime,
  type Instant,
  isDue,
  type Millis,
  millis,
  minus,
  plus,
  seconds,
} from '@lapse/base/instant';

/** Allowed on any object. `never` opts out and overrides other settings. It is always safe, so it needs no permission. */
export const TTL_ANNOTATION = 'lapse.dev/ttl';

/** When the TTL of an object starts. */
export type Finish =
  | { readonly kind: 'unfinished' }
  | { readonly kind: 'beingDeleted' }
  /** Finished, but no finish time is recorded; `note` says what is missing. */
  | { readonly kind: 'timeUnknown'; readonly note: string }
  /** `rule` names the source of the time: `condition Complete`. */
  | { readonly kind: 'finished'; readonly at: Instant; readonly rule: string };

/** How long an object is kept after it finished. */
export type Ttl =
  | { readonly kind: 'none' }
  | { readonly kind: 'never' }
  /** The TTL cannot be parsed; `note` says why. The object is kept. */
  | { readonly kind: 'invalid'; readonly note: string }
  /** `rule` names the source of the length: `spec.ttlSecondsAfterFinished`. */
  | { readonly kind: 'after'; readonly length: Millis; readonly rule: string }
  /** A fixed deadline, independent of the finish time. The object must have finished. */
  | { readonly kind: 'at'; readonly at: Instant; readonly rule: string };

export type NotApplicable =
  | 'unfinished'
  | 'being deleted'
  | 'no TTL'
  | 'opted out'
  | 'invalid TTL'
  | 'finish time unknown';

/** The inputs of a deadline. */
export interface Basis {
  readonly finishedAt: Instant;
  readonly finishRule: string;
  readonly ttl: Exclude<Ttl, { kind: 'none' | 'never' | 'invalid' }>;
}

export type Expiry =
  | { readonly kind: 'notApplicable'; readonly because: NotApplicable; readonly note?: string }
  /** `ahead`: how far the finish time lies in the future because clocks differ. It lengthens the wait. */
  | { readonly kind: 'waiting'; readonly until: Instant; readonly ahead: Millis; readonly because: Basis }
  /** The finish time lies further in the future than `tolerance`. It is not trusted before `until`. */
  | { readonly kind: 'held'; readonly until: Instant; readonly ahead: Millis; readonly because: Basis }
  | { readonly kind: 'expired'; readonly since: Instant; readonly because: Basis };

/** A finish time up to this far ahead is not reported: timestamps have whole seconds; synced clocks differ by less. */
export const MAX_UNREPORTED_AHEAD: Millis = seconds(1);

/** The deadline. */
export const endOfBasis = ({ finishedAt, ttl }: Basis): Instant =>
  ttl.kind === 'at' ? ttl.at : plus(finishedAt, ttl.length);

/**
 * `tolerance`: how far a finish time may lie in the future before the object is held (`--max-clock-skew`); default:
 * unlimited. Holding never moves the deadline: it stays `finish + ttl`.
 */
export function computeExpiry(
  finish: Finish,
  ttl: Ttl,
  now: Instant,
  tolerance: Millis = millis(Number.POSITIVE_INFINITY),
): Expiry {
  // Opting out comes first: it is the reason that lasts longest, so it is the one to show to the user.
  if (ttl.kind === 'never') return { kind: 'notApplicable', because: 'opted out' };
  if (finish.kind === 'beingDeleted') return { kind: 'notApplicable', because: 'being deleted' };
  // An object without a TTL is ignored, finished or not. An invalid TTL is reported even before the object finishes.
  if (ttl.kind === 'none') return { kind: 'notApplicable', because: 'no TTL' };
  if (ttl.kind === 'invalid') return invalid(ttl.note);
  if (ttl.kind === 'after' && !(ttl.length >= 0)) return invalid(`${ttl.length} ms is not a length of time`);
  switch (finish.kind) {
    case 'unfinished':
      return { kind: 'notApplicable', because: 'unfinished' };
    case 'timeUnknown':
      return { kind: 'notApplicable', because: 'finish time unknown', note: finish.note };
    case 'finished':
      return computeDeadline({ finishedAt: finish.at, finishRule: finish.rule, ttl }, now, tolerance);
    default:
      return assertNever(finish);
  }
}

function computeDeadline(because: Basis, now: Instant, tolerance: Millis): Expiry {
  const { finishedAt } = because;
  const end = endOfBasis(because);
  if (!Number.isFinite(end))
    return { kind: 'notApplicable', because: 'finish time unknown', note: 'the finish time is invalid' };
  const ahead = millis(Math.max(0, minus(finishedAt, now)));
  if (ahead > tolerance) return { kind: 'held', until: plus(finishedAt, millis(-tolerance)), ahead, because };
  return isDue(end, now)
    ? { kind: 'expired', since: end, because }
    : { kind: 'waiting', until: end, ahead, because };
}

const invalid = (note: string): Expiry => ({ kind: 'notApplicable', because: 'invalid TTL', note });

/** When the object has to be evaluated again because of the time; undefined if time changes nothing. */
export function deadlineOf(expiry: Expiry): Instant | undefined {
  switch (expiry.kind) {
    case 'waiting':
    case 'held':
      return expiry.until;
    case 'expired':
      return expiry.since;
    case 'notApplicable':
      return undefined;
    default:
      return assertNever(expiry);
  }
}

const lengthText = (length: Millis): string => formatGoDuration(BigInt(Math.round(length)) * 1_000_000n);

/** `TTL 1h0m0s (spec.ttlSecondsAfterFinished)`. */
export const describeTtl = (ttl: Basis['ttl']): string =>
  ttl.kind === 'at'
    ? `ends ${formatTime(ttl.at)} (${ttl.rule})`
    : `TTL ${lengthText(ttl.length)} (${ttl.rule})`;

/** `finished 2026-01-01T12:01:07Z (condition Complete), TTL 1h0m0s (spec.ttlSecondsAfterFinished)`. */
export function describeBasis({ finishedAt, finishRule, ttl }: Basis): string {
  return `finished ${formatTime(finishedAt)} (${finishRule}), ${describeTtl(ttl)}`;
}

/** The result in one line, for users. */
export function describeExpiry(expiry: Expiry): string {
  switch (expiry.kind) {
    case 'notApplicable':
      return expiry.note === undefined ? expiry.because : `${expiry.because}: ${expiry.note}`;
    case 'waiting':
      return `${describeBasis(expiry.because)}: ends ${formatTime(expiry.until)}`;
    case 'held':
      return `${describeBasis(expiry.because)}: held, the finish lies ${lengthText(expiry.ahead)} in the future`;
    case 'expired':
      return `${describeBasis(expiry.because)}: ended ${formatTime(expiry.since)}`;
    default:
      return assertNever(expiry);
  }
}
