// Computes when an ended request is deleted: completion time plus TTL, due from exactly that instant on. The TTL comes
// from the configuration or from the annotation. Pure.

import { readDuration } from '@lapse/base/duration';
import {
  type Instant,
  isDue,
  type Millis,
  millis,
  minus,
  minutes,
  parseTime,
  plus,
  seconds,
} from '@lapse/base/instant';
import type { RequestObject } from '#api/storage/request';
import type { RequestRules } from './rules.ts';
import { hasEnded } from './terminal.ts';

export type RequestExpiry =
  | { readonly kind: 'none' }
  /** The TTL cannot be parsed: the request is kept. */
  | { readonly kind: 'invalid'; readonly message: string }
  | { readonly kind: 'waiting'; readonly until: Instant }
  | { readonly kind: 'expired'; readonly since: Instant };

const NONE: RequestExpiry = { kind: 'none' };

/** The completion time; undefined if it is not recorded, and for a request that is being deleted. */
function completionOf(request: RequestObject): Instant | undefined {
  if (request.metadata.deletionTimestamp !== undefined || !hasEnded(request)) return undefined;
  const at = parseTime(request.status?.completionTimestamp ?? '');
  return Number.isFinite(at) ? at : undefined;
}

function expiryAt(at: Instant, now: Instant): RequestExpiry {
  return isDue(at, now) ? { kind: 'expired', since: at } : { kind: 'waiting', until: at };
}

/** Expiry by the configured TTL. No field or annotation of the request changes it. */
export function computeScannedExpiry(
  request: RequestObject,
  rules: RequestRules,
  now: Instant,
): RequestExpiry {
  const completed = completionOf(request);
  return completed === undefined ? NONE : expiryAt(plus(completed, rules.ttl.length), now);
}

/** Expiry by the TTL annotation of the request. */
export function computeRequestTtl(request: RequestObject, rules: RequestRules, now: Instant): RequestExpiry {
  const completed = completionOf(request);
  const text = request.metadata.annotations?.[rules.annotationKey];
  if (completed === undefined || text === undefined) return NONE;
  const ttl = readDuration(text);
  if (ttl.kind === 'invalid')
    return { kind: 'invalid', message: `Invalid TTL annotation format: ${text} (error: ${ttl.error})` };
  return expiryAt(plus(completed, ttl.length), now);
}

const SOONEST = seconds(30);
const LATEST = minutes(1);
const JITTER = 0.1;

/** The next evaluation in mode annotation: 30 to 66 s from now. `chance`: a random number in [0, 1). */
export function computeRecheck(until: Instant, now: Instant, chance: number): Instant {
  const base = Math.min(Math.max(minus(until, now), SOONEST), LATEST);
  const delay: Millis = millis(Math.max(SOONEST, base * (1 - JITTER + 2 * JITTER * chance)));
  return plus(now, delay);
}

/** When the request will be deleted, for messages. */
export function computeEnd(request: RequestObject, rules: RequestRules, completed: Instant): Instant {
  const text = request.metadata.annotations?.[rules.annotationKey];
  const own = rules.ttl.mode === 'annotation' && text !== undefined ? readDuration(text) : undefined;
  return plus(completed, own?.kind === 'length' ? own.length : rules.ttl.length);
}
