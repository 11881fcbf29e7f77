// read → compute → act, for one object of any kind that finishes. Decisions are in compute.ts; here is what follows.

import type { KubeObject } from '#api/object';
import { ApiError } from '#api/status';
import { assertNever } from '#base/assertNever';
import type { Instant } from '#base/instant';
import type { Propagation } from '#client/delete';
import { type Deletion, outcomeOf } from '#lifecycle/deletion';
import { type Basis, describeBasis } from '#lifecycle/expiry';
import type { Decision, GuardedDeletes } from '#lifecycle/guardedDelete';
import { Remembered } from '#lifecycle/remembered';
import type { SkewGuard } from '#lifecycle/skewGuard';
import { type Outcome, settled, waitUntil } from '#runtime/outcome';
import type { Pass } from '#runtime/pass';
import { computeLingering, computeNotice, computeVerdict, isRivalDeletion, type Verdict } from './compute.ts';
import type { Finishable } from './finishable.ts';
import type { Ledger } from './ledger.ts';
import type { FinishableMetrics } from './metrics.ts';

export interface ReconcileOptions<T extends KubeObject> {
  readonly finishable: Finishable<T>;
  readonly guard: SkewGuard;
  readonly deletes: GuardedDeletes;
  readonly ledger: Ledger;
  readonly metrics: FinishableMetrics;
  readonly propagation: Propagation;
  /** Say on the object (which is gone) that it was deleted, and why. */
  readonly deletionEvents: boolean;
}

interface Kept<T> {
  readonly live: T;
  readonly verdict: Verdict;
}
type Expired = Extract<Verdict, { kind: 'expired' }>;

/** Rivals that act by the same rule are named after this many deletions: once may be a person. */
const RIVALS_WORTH_NAMING = 3;
/** "Once" per object and process, for this many. */
const MOST_TOLD = 100_000;

export function createReconcile<T extends KubeObject>(
  options: ReconcileOptions<T>,
): (pass: Pass) => Promise<Outcome> {
  const { finishable, guard, deletes, ledger, metrics, propagation } = options;
  const { kind } = finishable;
  const told = new Remembered(MOST_TOLD);
  let actingSince: Instant | undefined;

  return async (pass) => {
    actingSince ??= pass.now;
    const object = pass.cache.get(kind, pass.key);
    if (object === undefined) return vanished(pass);
    return follow(pass, object, look(pass, object, pass.now));
  };

  function look(pass: Pass, object: T, now: Instant): Verdict {
    const moment = { now, tolerance: guard.maxSkew };
    const verdict = computeVerdict(finishable, object, moment);
    if (verdict.kind !== 'notApplicable' || verdict.because !== 'finish time unknown') return verdict;
    const firstSeen = ledger.firstSeen(pass.key, object.metadata.uid ?? '', now);
    return computeVerdict(finishable, object, { ...moment, firstSeen });
  }

  function follow(pass: Pass, object: T, verdict: Verdict): Promise<Outcome> | Outcome {
    tell(pass, object, verdict);
    switch (verdict.kind) {
      case 'notApplicable':
        if (verdict.because === 'being deleted') return lingering(pass, object);
        ledger.expectsNothing(pass.key);
        return settled();
      case 'exempt':
        ledger.expectsNothing(pass.key);
        return settled();
      case 'waiting':
        ledger.expects(pass.key, verdict.until);
        return waitUntil(verdict.until, 'ttl');
      case 'held':
        ledger.expects(pass.key, verdict.until);
        return waitUntil(verdict.until, 'finish in the future');
      case 'expired':
        ledger.expects(pass.key, verdict.since);
        return deleteExpired(pass, object, verdict);
      default:
        return assertNever(verdict);
    }
  }

  async function deleteExpired(pass: Pass, object: T, expired: Expired): Promise<Outcome> {
    const uid = object.metadata.uid ?? '';
    const decide = (live: T, now: Instant): Decision<Kept<T>> => {
      const verdict = look(pass, live, now);
      if (verdict.kind !== 'expired') return { kind: 'keep', verdict: { live, verdict } };
      basis = verdict.because;
      return { kind: 'delete', since: verdict.since };
    };
    let basis: Basis = expired.because;
    const wasOurs = ledger.isOurs(pass.key, uid);
    ledger.claims(pass.key, uid);
    metrics.inUse.enter();
    let deletion: Deletion<Kept<T>> | undefined;
    try {
      deletion = await deletes.delete(pass, { kind, object, since: expired.since, decide, propagation });
    } catch (error) {
      // An answer says that nothing was done; without one we cannot know, and do not call it a rival's doing.
      if (error instanceof ApiError && !wasOurs) ledger.disclaims(pass.key);
      throw error;
    } finally {
      metrics.inUse.leave();
    }
    if (deletion.kind === 'deleted' || deletion.kind === 'terminating')
      accepted(pass, object, deletion, basis);
    else if (!wasOurs) ledger.disclaims(pass.key);
    if (deletion.kind === 'wouldDelete' && isFirst(`${uid} would ${expired.since}`))
      metrics.deleted(pass.key.namespace ?? '', 'wouldDelete');
    if (deletion.kind === 'kept') return follow(pass, deletion.verdict.live, deletion.verdict.verdict);
    return outcomeOf(deletion, settled);
  }

  function accepted(
    pass: Pass,
    object: T,
    { kind: outcome, lag }: Extract<Deletion, { kind: 'deleted' | 'terminating' }>,
    basis: Basis,
  ): void {
    ledger.expectsNothing(pass.key);
    metrics.deleted(pass.key.namespace ?? '', outcome);
    pass.log.debug({ lagMs: lag, outcome }, 'deleted');
    if (!options.deletionEvents) return;
    const note = `${describeBasis(basis)}; deleted ${(lag / 1000).toFixed(1)} s after its deadline`;
    pass.event(object, { type: 'Normal', reason: 'Deleted', action: 'Delete', note });
  }

  /** Being deleted: followed up if it was us, otherwise none of our business but for the question who it was. */
  function lingering(pass: Pass, object: T): Outcome {
    if (!ledger.isOurs(pass.key, object.metadata.uid)) {
      noticeRival(pass);
      ledger.expectsNothing(pass.key);
      return settled();
    }
    const state = computeLingering(object, pass.now);
    if (state.kind === 'wait') return waitUntil(state.until, 'terminating');
    tellOnce(pass, object, 'StuckTerminating', state.note);
    return settled();
  }

  function vanished(pass: Pass): Outcome {
    noticeRival(pass);
    ledger.forget(pass.key);
    return settled();
  }

  function noticeRival(pass: Pass): void {
    const deadline = ledger.deadline(pass.key);
    if (deadline === undefined || ledger.isOurs(pass.key)) return;
    if (!isRivalDeletion(deadline, pass.now, actingSince ?? pass.now)) return;
    metrics.rival.inc();
    if (metrics.rival.value !== RIVALS_WORTH_NAMING) return;
    pass.log.warn(
      { kind: kind.kind, deletions: metrics.rival.value },
      'somebody else deletes by the same TTLs: kube-controller-manager, unless its ttl-after-finished-controller is off; dry run and the extension promise hold only for our own deletions',
    );
  }

  function tell(pass: Pass, object: T, verdict: Verdict): void {
    const notice = computeNotice(verdict);
    if (notice === undefined) return;
    if (tellOnce(pass, object, notice.reason, notice.note)) metrics.skipped(notice.because);
  }

  /** True the first time. */
  function tellOnce(pass: Pass, object: T, reason: string, note: string): boolean {
    if (!isFirst(`${object.metadata.uid} ${reason}`)) return false;
    pass.event(object, { type: 'Warning', reason, action: 'Reconcile', note });
    return true;
  }

  function isFirst(what: string): boolean {
    if (told.has(what)) return false;
    told.add(what);
    return true;
  }
}
