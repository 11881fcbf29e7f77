// DELETEs whose answer did not say what became of them. The result is seen later, in the cache: by a reconcile, or on a
// standby, when the lease was lost while the DELETE was under way.

import type { Clock } from '@lapse/base/clock';
import { type Instant, minus, seconds } from '@lapse/base/instant';
import type { ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Ledger } from './ledger.ts';
import type { FinishableMetrics } from './metrics.ts';

interface Records {
  readonly ledger: Ledger;
  readonly metrics: FinishableMetrics;
}

/** No other replica leads for so long after this one stopped: the lease duration minus the renew deadline. */
const ALONE = seconds(5);

/** Counts the DELETE of what has this key, once, by when its result was seen. True if it was counted. */
export function countUnanswered(
  { ledger, metrics }: Records,
  key: ObjectKey,
  outcome: 'deleted' | 'terminating',
  now: Instant,
): boolean {
  const since = ledger.deadline(key);
  const uid = ledger.ours(key);
  if (since === undefined || uid === undefined) return false;
  ledger.expectsNothing(key);
  metrics.deletion.outcome(outcome);
  metrics.deletion.lag.observe(Math.max(0, minus(now, since)) / 1000);
  metrics.deletion.done(uid);
  metrics.deleted(key.namespace ?? '', outcome);
  return true;
}

/**
 * For `onStandbyChange`: counts the result of a DELETE that was under way when the lease was lost. A removal that is seen
 * later may be the work of the next leader, which counts it.
 */
export function standbyChange(
  records: Records & { readonly clock: Pick<Clock, 'elapsed'>; readonly now: () => Instant },
  key: ObjectKey,
  object: KubeObject | undefined,
): void {
  const { ledger, clock } = records;
  const isSame = object !== undefined && ledger.isOurs(key, object.metadata.uid);
  const isTerminating = object?.metadata.deletionTimestamp !== undefined;
  const isAlone = clock.elapsed() - ledger.restsSince < ALONE;
  if (isAlone && (!isSame || isTerminating))
    countUnanswered(records, key, isSame ? 'terminating' : 'deleted', records.now());
  if (object === undefined) ledger.forget(key);
}
