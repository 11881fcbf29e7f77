// Parses the per-object annotation `lapse.dev/ttl: 30m | never`.

import { GoDurationError, parseGoDuration } from '@lapse/base/goDuration';
import { type Millis, millis } from '@lapse/base/instant';
import type { ObjectMeta } from '@lapse/kube/api/object';
import { TTL_ANNOTATION, type Ttl } from './expiry.ts';

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
