// Parses the per-object annotations `lapse.dev/ttl: 30m | never` and `lapse.dev/expires-at: <RFC 3339 time>`.

import { GoDurationError, parseGoDuration } from '@lapse/base/goDuration';
import { type Millis, millis, plus } from '@lapse/base/instant';
import type { ObjectMeta } from '@lapse/kube/api/object';
import { type Finish, TTL_ANNOTATION, type Ttl } from './expiry.ts';
import { parseInstant, type Unjudged } from './statusFinish.ts';

/** A fixed deadline on the object. Only policies with allowOverrides respect it. */
export const EXPIRES_ANNOTATION = 'lapse.dev/expires-at';

/** Returns undefined without the annotation. An unreadable value is an invalid TTL and keeps the object. */
export function readTtlAnnotation({ annotations = {} }: ObjectMeta): Ttl | undefined {
  const text = Object.hasOwn(annotations, TTL_ANNOTATION) ? annotations[TTL_ANNOTATION] : undefined;
  if (text === undefined) return undefined;
  if (text === 'never') return { kind: 'never' };
  const length = readLength(text);
  return typeof length === 'string'
    ? unreadable(TTL_ANNOTATION, text, `${length}; a duration such as 30m, or never`)
    : { kind: 'after', length, rule: `annotation ${TTL_ANNOTATION}` };
}

/** The TTL of both annotations; of two, the later deadline. An unreadable annotation keeps the object. */
export function readTtlAnnotations(metadata: ObjectMeta, finish: Finish | Unjudged): Ttl | undefined {
  const after = readTtlAnnotation(metadata);
  if (after?.kind === 'never' || after?.kind === 'invalid') return after;
  const at = readExpires(metadata);
  if (at?.kind === 'invalid') return at;
  if (after?.kind !== 'after' || at?.kind !== 'at') return after ?? at;
  if (finish.kind !== 'finished') return at;
  return plus(finish.at, after.length) > at.at ? after : at;
}

function readExpires({ annotations = {} }: ObjectMeta): Ttl | undefined {
  const text = Object.hasOwn(annotations, EXPIRES_ANNOTATION) ? annotations[EXPIRES_ANNOTATION] : undefined;
  if (text === undefined) return undefined;
  const at = parseInstant(text);
  return at === undefined
    ? unreadable(EXPIRES_ANNOTATION, text, 'not an RFC 3339 time')
    : { kind: 'at', at, rule: `annotation ${EXPIRES_ANNOTATION}` };
}

export const unreadable = (annotation: string, text: string, why: string): Ttl => ({
  kind: 'invalid',
  note: `annotation ${annotation} is ${JSON.stringify(text.slice(0, 40))}: ${why.slice(0, 200)}`,
});

/** Parses a non-negative duration, or returns the error. A length below one millisecond counts as one millisecond. */
export function readLength(text: string): Millis | string {
  try {
    const nanos = parseGoDuration(text);
    if (nanos < 0n) return 'must not be negative';
    return millis(Number((nanos + 999_999n) / 1_000_000n));
  } catch (error) {
    if (error instanceof GoDurationError) return error.message;
    throw error;
  }
}
