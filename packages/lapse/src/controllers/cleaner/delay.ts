// The annotations with which a user delays or keeps a Cleaner. They need the right to patch the Cleaner, and do not change
// its author: they can only make a deletion later. Pure.

import { formatTime, type Instant, isDue } from '@lapse/base/instant';
import type { ObjectMeta } from '@lapse/kube/api/object';
import { TTL_ANNOTATION, type Ttl } from '#expiry/expiry';
import { parseInstant } from '#expiry/statusFinish';
import { readTtlAnnotation, unreadable } from '#expiry/ttlAnnotation';

/** An RFC 3339 time. The Cleaner is not evaluated before it. A time before the end of the TTL has no effect. */
export const DELAY_ANNOTATION = 'lapse.dev/delay-until';

export type Delay =
  | { readonly kind: 'none' }
  | { readonly kind: 'until'; readonly at: Instant }
  /** `lapse.dev/ttl: never`. */
  | { readonly kind: 'never'; readonly note: string }
  /** An annotation cannot be parsed. It keeps the Cleaner, because it may be meant to. */
  | { readonly kind: 'invalid'; readonly note: string };

/** A duration in `lapse.dev/ttl` is for policies and has no effect on a Cleaner. */
export function readDelay({ annotations }: ObjectMeta): Delay {
  if (annotations === undefined) return { kind: 'none' };
  const own = readTtlAnnotation({ annotations });
  if (own?.kind === 'never') return { kind: 'never', note: `annotation ${TTL_ANNOTATION} is never` };
  if (own?.kind === 'invalid') return own;
  const text = Object.hasOwn(annotations, DELAY_ANNOTATION) ? annotations[DELAY_ANNOTATION] : undefined;
  if (text === undefined) return { kind: 'none' };
  const at = parseInstant(text);
  if (at !== undefined) return { kind: 'until', at };
  return unreadable(DELAY_ANNOTATION, text, 'not an RFC 3339 time') as Extract<Ttl, { kind: 'invalid' }>;
}

/** Why the annotations delay or keep the Cleaner now, or undefined. */
export function findDelay(metadata: ObjectMeta, now: Instant): string | undefined {
  const delay = readDelay(metadata);
  if (delay.kind === 'never' || delay.kind === 'invalid') return delay.note;
  return delay.kind === 'until' && !isDue(delay.at, now) ? describeDelayUntil(delay.at) : undefined;
}

/** `delayed until 2026-01-01T12:00:00Z (annotation lapse.dev/delay-until)`. */
export const describeDelayUntil = (at: Instant): string =>
  `delayed until ${formatTime(at)} (annotation ${DELAY_ANNOTATION})`;
