// One deletion: the object that a controller decided to delete, the DELETE request, the possible results, and the
// reconcile outcome for each.

import { assertNever } from '@lapse/base/assertNever';
import type { Instant, Millis } from '@lapse/base/instant';
import { type Kind, keyOf } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { DeleteResult, Propagation } from '@lapse/kube/client/delete';
import { again, failed, type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { Budget } from './budget.ts';
import type { SentDelete } from './ownDeletions.ts';
import type { DueTogether } from './trash.ts';

export type Decision<KeptBecause, Reason = unknown> =
  | { readonly kind: 'delete'; readonly since: Instant; readonly because?: Reason }
  | { readonly kind: 'keep'; readonly because: KeptBecause };

export interface DeletionTarget<T extends KubeObject, KeptBecause, Reason = unknown> {
  readonly kind: Kind<T>;
  /** The object that the decision was made on, with its uid and resourceVersion. */
  readonly object: T;
  /** Its deadline. */
  readonly since: Instant;
  /** Why it is deleted. */
  readonly because?: Reason;
  /** Makes the same decision on a newer state of the object. Pure. */
  readonly decide: (live: T, now: Instant) => Decision<KeptBecause, Reason>;
  readonly propagation?: Propagation;
  readonly gracePeriodSeconds?: number;
  /** Dry run for this object. If the whole process runs dry, this has no effect. */
  readonly dryRun?: boolean;
  /** An additional budget, for example of one policy. It is checked before the budget of the controller. */
  readonly budget?: Budget;
  /** Other objects that are deleted by the same rule now; they are saved together. */
  readonly together?: DueTogether<Reason>;
  /** The client that sends the requests; default: the client of the reconcile. */
  readonly client?: Client;
  /** Whether the cache still has the object. Default for objects of the controller's kind: by the reconciled key. */
  readonly isThere?: () => boolean;
}

/**
 * An object that is deleted because of a decision that was recorded first. Its DELETE carries the uid, and the
 * resourceVersion only if the object has one.
 */
export interface RecordedTarget<Reason> extends SentDelete<Reason> {
  readonly propagation?: Propagation;
  readonly client: Client;
}

export const isDry = (ctx: ReconcileContext, target: { readonly dryRun?: boolean }): boolean =>
  ctx.dryRun || target.dryRun === true;

export const uidOf = (object: KubeObject): string => object.metadata.uid ?? '';

export const dryKey = ({ object, since }: { object: KubeObject; since: Instant }): string =>
  `${uidOf(object)}@${since}`;

/** Whether the cache still has the object; undefined if the reconcile cannot determine it. */
export function presenceOf<T extends KubeObject, V, R>(
  { cache, key }: ReconcileContext,
  { kind, object, isThere }: DeletionTarget<T, V, R>,
): (() => boolean) | undefined {
  if (isThere !== undefined) return isThere;
  const { name, namespace } = keyOf(object);
  if (name !== key.name || namespace !== key.namespace) return undefined;
  const uid = uidOf(object);
  return () => cache.get(kind, key)?.metadata.uid === uid;
}

/** One DELETE of a recorded decision. */
export function sendRecorded<R>(
  { signal, dryRun }: ReconcileContext,
  { kind, object, propagation, client }: RecordedTarget<R>,
): Promise<DeleteResult<KubeObject>> {
  const { uid, resourceVersion } = object.metadata;
  if (!uid) throw new Error('an object without uid cannot be deleted safely');
  if (dryRun) throw new Error('a recorded decision is not carried out in a dry run');
  return client.delete(kind, keyOf(object), {
    ifUid: uid,
    signal,
    ...(resourceVersion === undefined ? {} : { ifVersion: resourceVersion }),
    ...(propagation === undefined ? {} : { propagation }),
  });
}

/** One DELETE with the uid and the resourceVersion of the object as preconditions. */
export function sendDelete<T extends KubeObject, V, R>(
  ctx: ReconcileContext,
  target: DeletionTarget<T, V, R>,
  object: T,
): Promise<DeleteResult<T>> {
  const { kind, propagation, gracePeriodSeconds, client = ctx.client } = target;
  const { uid, resourceVersion } = object.metadata;
  if (!uid || !resourceVersion)
    throw new Error('an object without uid and resourceVersion cannot be deleted safely');
  return client.delete(kind, keyOf(object), {
    ifUid: uid,
    ifVersion: resourceVersion,
    ...(propagation === undefined ? {} : { propagation }),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(isDry(ctx, target) ? { dryRun: true } : {}),
  });
}

/**
 * `clock ahead`: the object is due by the local clock but not yet by the API server's clock. `trash`: it could not be
 * saved.
 */
export type HeldBecause = 'clock unknown' | 'clock skew' | 'clock ahead' | 'budget' | 'trash';

export type Deletion<KeptBecause = never> =
  /** Deleted by this process. `lag`: time from the deadline to the deletion. */
  | { readonly kind: 'deleted'; readonly lag: Millis }
  /** The API server accepted the deletion. Finalizers or foreground deletion keep the object for now. */
  | { readonly kind: 'terminating'; readonly lag: Millis }
  /** The object no longer exists, or another object has its name. */
  | { readonly kind: 'gone' }
  /** The object changed since the decision and is no longer to be deleted. */
  | { readonly kind: 'kept'; readonly because: KeptBecause }
  /** The object changed in every round, so each DELETE failed its preconditions. */
  | { readonly kind: 'contended' }
  /** An admission webhook or another rule of the cluster refused the deletion. */
  | { readonly kind: 'refused'; readonly error: ApiError }
  /** Postponed, for a reason that does not depend on the object. */
  | {
      readonly kind: 'held';
      readonly until: Instant;
      readonly because: HeldBecause;
      /** The cause in words, for the user. */
      readonly why?: string;
    }
  /** Dry run: the object would have been deleted. */
  | { readonly kind: 'wouldDelete'; readonly lag: Millis };

/** The reconcile outcome of a deletion. The caller supplies the outcome for `kept`. */
export function outcomeOf<KeptBecause>(
  deletion: Deletion<KeptBecause>,
  kept: (because: KeptBecause) => Outcome,
): Outcome {
  switch (deletion.kind) {
    case 'deleted':
    case 'terminating':
    case 'gone':
    case 'wouldDelete':
      return settled();
    case 'kept':
      return kept(deletion.because);
    case 'contended':
      return again('contended');
    case 'refused':
      return failed(deletion.error);
    case 'held':
      return waitUntil(deletion.until, `held: ${deletion.because}`);
    default:
      return assertNever(deletion);
  }
}
