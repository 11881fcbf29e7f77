// Objects that Lapse deleted and that are still terminating. Finalizers are respected; stuck ones are reported.

import { type Instant, isDue, minutes, parseTime, plus } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';

/** How long an object may terminate before it is reported. */
const STUCK_AFTER = minutes(10);

export type Terminating =
  | { readonly kind: 'wait'; readonly until: Instant }
  | { readonly kind: 'stuck'; readonly note: string };

/** Counts from the deletionTimestamp, which is the end of the grace period. */
export function computeTerminating({ metadata }: KubeObject, now: Instant): Terminating {
  const deletedAt = parseTime(metadata.deletionTimestamp ?? '');
  const until = plus(Number.isFinite(deletedAt) ? deletedAt : now, STUCK_AFTER);
  if (!isDue(until, now)) return { kind: 'wait', until };
  const { finalizers = [] } = metadata;
  const kept =
    finalizers.length === 0
      ? 'no finalizer in its metadata keeps it'
      : `kept by the finalizer ${finalizers.join(', ')}`;
  return {
    kind: 'stuck',
    note: `still terminating ${STUCK_AFTER / 60_000} minutes after it was deleted: ${kept}`,
  };
}
