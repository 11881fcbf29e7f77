// The rule about time, once for everything that ends some time after it finished: `finish + ttl`, due from that very
// instant on. Pure: what finished and what TTL applies are read elsewhere, and arrive here as unions that say why. The
// same answer serves the reconciler, `explain`, `plan` and the simulator.

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

/** On any object: `never` opts out whatever else is set. Opting out is always safe, so it needs no permission. */
export const TTL_ANNOTATION = 'lapse.dev/ttl';

/** When the clock of an object started. */
export type Finish =
  | { readonly kind: 'unfinished' }
  | { readonly kind: 'beingDeleted' }
  /** Finished, and nobody wrote down when; `note` says what is missing. */
  | { readonly kind: 'timeUnknown'; readonly note: string }
  /** `rule` names what gave the time: `condition Complete`. */
  | { readonly kind: 'finished'; readonly at: Instant; readonly rule: string };

/** How long an object stays after that. */
export type Ttl =
  | { readonly kind: 'none' }
  | { readonly kind: 'never' }
  /** Not a TTL; `note` says why. Never deletes. */
  | { readonly kind: 'invalid'; readonly note: string }
  /** `rule` names what gave the length: `spec.ttlSecondsAfterFinished`. */
  | { readonly kind: 'after'; readonly length: Millis; readonly rule: string }
  /** An end of its own, whenever it finished; it must have finished all the same. */
  | { readonly kind: 'at'; readonly at: Instant; readonly rule: string };

export type NotApplicable =
  | 'unfinished'
  | 'being deleted'
  | 'no TTL'
  | 'opted out'
  | 'invalid TTL'
  | 'finish time unknown';

/** What a deadline was computed from. */
export interface Basis {
  readonly finishedAt: Instant;
  readonly finishRule: string;
  readonly ttl: Exclude<Ttl, { kind: 'none' | 'never' | 'invalid' }>;
}

export type Expiry =
  | { readonly kind: 'notApplicable'; readonly because: NotApplicable; readonly note?: string }
  /** `ahead`: the finish lies that far in the future, so clocks differ; the wait is the longer for it. */
  | { readonly kind: 'waiting'; readonly until: Instant; readonly ahead: Millis; readonly because: Basis }
  /** The finish lies further in the future than clocks may differ: not believed before `until`. */
  | { readonly kind: 'held'; readonly until: Instant; readonly ahead: Millis; readonly because: Basis }
  | { readonly kind: 'expired'; readonly since: Instant; readonly because: Basis };

/** A finish this far in the future is not worth a word: times of objects have whole seconds, and good clocks differ by less. */
export const AHEAD_WORTH_TELLING: Millis = seconds(1);

/** The deadline. */
export const endOfBasis = ({ finishedAt, ttl }: Basis): Instant =>
  ttl.kind === 'at' ? ttl.at : plus(finishedAt, ttl.length);

/**
 * `tolerance` is how far a finish may lie in the future before it is held (`--max-clock-skew`); without it nothing is
 * held. Being held never brings a deadline nearer: it stays `finish + ttl`.
 */
export function computeExpiry(
  finish: Finish,
  ttl: Ttl,
  now: Instant,
  tolerance: Millis = millis(Number.POSITIVE_INFINITY),
): Expiry {
  // Opting out comes first: whoever asks why an object stays is told the reason that outlasts the others.
  if (ttl.kind === 'never') return { kind: 'notApplicable', because: 'opted out' };
  if (finish.kind === 'beingDeleted') return { kind: 'notApplicable', because: 'being deleted' };
  // What has no TTL is nobody's business, finished or not; a TTL that cannot be read is told at once.
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
    return { kind: 'notApplicable', because: 'finish time unknown', note: 'the time is not a time' };
  const ahead = millis(Math.max(0, minus(finishedAt, now)));
  if (ahead > tolerance) return { kind: 'held', until: plus(finishedAt, millis(-tolerance)), ahead, because };
  return isDue(end, now)
    ? { kind: 'expired', since: end, because }
    : { kind: 'waiting', until: end, ahead, because };
}

const invalid = (note: string): Expiry => ({ kind: 'notApplicable', because: 'invalid TTL', note });

/** When something is next to be looked at because of the clock; undefined when time changes nothing. */
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

/** The whole answer in one line, for people. */
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
