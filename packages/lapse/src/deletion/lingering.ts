// Objects that we deleted and that are still there: finalizers are honoured, and after a while somebody should know which.

import { type Instant, isDue, minutes, parseTime, plus } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';

/** After this long, an object that we deleted and that is still there is reported. */
const STUCK_AFTER = minutes(10);

export type Lingering =
  | { readonly kind: 'wait'; readonly until: Instant }
  | { readonly kind: 'stuck'; readonly note: string };

/** The grace period it was given is over at its deletionTimestamp. */
export function computeLingering({ metadata }: KubeObject, now: Instant): Lingering {
  const deletedAt = parseTime(metadata.deletionTimestamp ?? '');
  const until = plus(Number.isFinite(deletedAt) ? deletedAt : now, STUCK_AFTER);
  if (!isDue(until, now)) return { kind: 'wait', until };
  const { finalizers = [] } = metadata;
  const kept =
    finalizers.length === 0
      ? 'no finalizer in its metadata keeps it'
      : `kept by the finalizer ${finalizers.join(', ')}`;
  return { kind: 'stuck', note: `still there ${STUCK_AFTER / 60_000} minutes after it was deleted: ${kept}` };
}
