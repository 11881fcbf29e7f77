// read → compute → act, for one object of any kind that finishes. Decisions are in compute.ts; here is what follows.

import { assertNever } from '@lapse/base/assertNever';
import type { Clock } from '@lapse/base/clock';
import type { Instant, Millis } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Propagation } from '@lapse/kube/client/delete';
import { type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { Pass } from '@lapse/runtime/pass';
import { type Deletion, outcomeOf } from '#deletion/deletion';
import { type Basis, describeBasis } from '#deletion/expiry';
import type { Finishable } from '#deletion/finish/finishable';
import { type Decision, type GuardedDeletes, mayHaveActed } from '#deletion/guardedDelete';
import { computeLingering } from '#deletion/lingering';
import { Remembered } from '#deletion/remembered';
import type { Reading } from '#deletion/sight';
import type { SkewGuard } from '#deletion/skewGuard';
import { computeNotice, computeVerdict, isRivalDeletion, type Verdict } from './compute.ts';
import type { Ledger } from './ledger.ts';
import type { FinishableMetrics } from './metrics.ts';
import { countUnanswered } from './unansweredDelete.ts';

export interface ReconcileOptions<T extends KubeObject> {
  readonly clock: Pick<Clock, 'elapsed'>;
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
  const { clock, finishable, guard, deletes, ledger, metrics, propagation } = options;
  const { kind } = finishable;
  const told = new Remembered(MOST_TOLD);

  return async (pass) => {
    ledger.acts();
    const object = pass.cache.get(kind, pass.key);
    if (object === undefined) return vanished(pass);
    // Deleted by us and made again under its name, before we heard that it was gone.
    if (ledger.isOurs(pass.key) && !ledger.isOurs(pass.key, object.metadata.uid)) vanished(pass);
    if (isBehindOurDelete(pass, object)) return settled();
    // Read once, like `now`: the two are one moment, also for what is decided again after an answer.
    const elapsed = clock.elapsed();
    return follow(pass, object, look(pass, object, { now: pass.now, elapsed }), elapsed);
  };

  function look(pass: Pass, object: T, reading: Reading): Verdict {
    const sight = finishable.needsFirstSight?.(object)
      ? ledger.firstSight(pass.key, object.metadata.uid ?? '', reading)
      : undefined;
    return computeVerdict(finishable, object, { now: reading.now, tolerance: guard.maxSkew, sight });
  }

  function follow(pass: Pass, object: T, verdict: Verdict, elapsed: Millis): Promise<Outcome> | Outcome {
    tell(pass, object, verdict);
    switch (verdict.kind) {
      case 'notApplicable':
        if (verdict.because === 'being deleted') return lingering(pass, object);
        spared(pass);
        return settled();
      case 'exempt':
        spared(pass);
        return settled();
      case 'waiting':
        spared(pass, verdict.until);
        return waitUntil(verdict.until, 'ttl');
      case 'held':
        spared(pass, verdict.until);
        return waitUntil(verdict.until, 'finish in the future');
      case 'expired':
        ledger.expects(pass.key, verdict.since);
        return deleteExpired(pass, object, verdict, elapsed);
      default:
        return assertNever(verdict);
    }
  }

  /** Accepted and counted; the cache does not know yet. Nothing about it is to be decided any more, an event will come. */
  function isBehindOurDelete({ key }: Pass, { metadata }: T): boolean {
    if (metadata.deletionTimestamp !== undefined) return false;
    return ledger.isOurs(key, metadata.uid) && ledger.deadline(key) === undefined;
  }

  /** Alive, and not due: whatever we sent about it before was not carried out, and will not be. */
  function spared(pass: Pass, until?: Instant): void {
    ledger.disclaims(pass.key);
    if (until === undefined) ledger.expectsNothing(pass.key);
    else ledger.expects(pass.key, until);
  }

  async function deleteExpired(pass: Pass, object: T, expired: Expired, elapsed: Millis): Promise<Outcome> {
    const uid = object.metadata.uid ?? '';
    const decide = (live: T, now: Instant): Decision<Kept<T>> => {
      const verdict = look(pass, live, { now, elapsed });
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
      // If it is gone after an answer that leaves it open, it was us and not a rival.
      if ((pass.dryRun || !mayHaveActed(error)) && !wasOurs) ledger.disclaims(pass.key);
      throw error;
    } finally {
      metrics.inUse.leave();
    }
    if (deletion.kind === 'deleted' || deletion.kind === 'terminating')
      accepted(pass, object, deletion, basis);
    else if (!wasOurs) ledger.disclaims(pass.key);
    if (deletion.kind === 'wouldDelete' && isFirst(`${uid} would ${expired.since}`))
      metrics.deleted(pass.key.namespace ?? '', 'wouldDelete');
    if (deletion.kind === 'kept')
      return follow(pass, deletion.verdict.live, deletion.verdict.verdict, elapsed);
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
    noticeOurs(pass, 'terminating');
    const state = computeLingering(object, pass.now);
    if (state.kind === 'wait') return waitUntil(state.until, 'terminating');
    tellOnce(pass, object, 'StuckTerminating', state.note);
    return settled();
  }

  function vanished(pass: Pass): Outcome {
    noticeOurs(pass, 'deleted');
    noticeRival(pass);
    ledger.forget(pass.key);
    return settled();
  }

  /** A DELETE was carried out whose answer did not say so: counted now, once, by when we heard of it. */
  function noticeOurs(pass: Pass, outcome: 'deleted' | 'terminating'): void {
    if (countUnanswered({ ledger, metrics }, pass.key, outcome, pass.now))
      pass.log.debug({ outcome }, 'deleted');
  }

  function noticeRival(pass: Pass): void {
    const deadline = ledger.deadline(pass.key);
    if (deadline === undefined || ledger.isOurs(pass.key)) return;
    if (!isRivalDeletion(deadline, pass.now, pass.actingSince)) return;
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
