// DELETEs without a clear answer. Their result is seen later in the cache: by a reconcile, or on a standby if the lease
// was lost during the DELETE.

import type { Clock } from '@lapse/base/clock';
import { type Instant, minus, seconds } from '@lapse/base/instant';
import type { ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { FinishableMetrics } from './metrics.ts';
import type { ObjectRecords } from './objectRecords.ts';

interface Records {
  readonly objectRecords: ObjectRecords;
  readonly metrics: FinishableMetrics;
}

/** No other replica leads for this long after this one stopped: the lease duration minus the renew deadline. */
const NO_OTHER_LEADER = seconds(5);

/** Counts the DELETE of the object with this key once, at the time when its result is seen. True if it was counted. */
export function countUnanswered(
  { objectRecords, metrics }: Records,
  key: ObjectKey,
  outcome: 'deleted' | 'terminating',
  now: Instant,
): boolean {
  const since = objectRecords.deadline(key);
  const uid = objectRecords.deletedUid(key);
  if (since === undefined || uid === undefined) return false;
  objectRecords.clearDeadline(key);
  metrics.deletion.outcome(outcome);
  metrics.deletion.lag.observe(Math.max(0, minus(now, since)) / 1000);
  metrics.deletion.done(uid);
  metrics.deleted(key.namespace ?? '', outcome);
  return true;
}

/**
 * For `onStandbyChange`: counts the result of a DELETE that was in flight when the lease was lost. A removal that is
 * seen later may be the work of the next leader, which counts it.
 */
export function standbyChange(
  records: Records & { readonly clock: Pick<Clock, 'elapsed'>; readonly now: () => Instant },
  key: ObjectKey,
  object: KubeObject | undefined,
): void {
  const { objectRecords, clock } = records;
  const isSame = object !== undefined && objectRecords.isOwnDeletion(key, object.metadata.uid);
  const isTerminating = object?.metadata.deletionTimestamp !== undefined;
  const isBeforeNextLeader = clock.elapsed() - objectRecords.stoppedAt < NO_OTHER_LEADER;
  if (isBeforeNextLeader && (!isSame || isTerminating))
    countUnanswered(records, key, isSame ? 'terminating' : 'deleted', records.now());
  if (object === undefined) objectRecords.forget(key);
}
