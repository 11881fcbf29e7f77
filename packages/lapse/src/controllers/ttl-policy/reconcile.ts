// Reconciles one target: evaluates every policy that selects it and acts on the combined decision.

import { assertNever } from '@lapse/base/assertNever';
import { BoundedSet } from '@lapse/base/boundedSet';
import { type Instant, isDue, type Millis, millis, minus, plus, seconds } from '@lapse/base/instant';
import { type Kind, keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import { again, failed, type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { computeReport } from '@lapse/runtime/report';
import { type Decision, type Deletion, outcomeOf } from '#deletion/deletion';
import { regarding } from '#deletion/deletionCounter';
import type { Expirer } from '#deletion/expirer';
import { mayHaveActed, type SentDelete } from '#deletion/ownDeletions';
import { type DueTogether, describeNotSaved } from '#deletion/trash';
import type { TtlMetrics } from '../ttlMetrics.ts';
import { claimDeletion } from './claimDeletion.ts';
import { decidesFor, type End } from './combine.ts';
import type { AnyPolicy } from './compile.ts';
import { computeError, computeNotice, computeObstacle, computeOwnError, decide } from './decide.ts';
import { gather, gatherLive, readLive, type SeenByActive } from './gather.ts';
import { objectName, type Waking } from './keys.ts';
import { type ActivePolicy, metricKind, type Policies } from './policies.ts';
import { policiesFor } from './policyIndex.ts';
import { KEPT } from './targetRecords.ts';

export interface TargetOptions {
  readonly policies: Policies;
  readonly expirer: Expirer<ExpiredTarget>;
  readonly metrics: Pick<TtlMetrics, 'skipped'>;
  readonly tolerance: Millis;
  /** The kinds of policies that are evaluated. */
  readonly kinds: readonly Kind<AnyPolicy>[];
}

/** The decision to delete a target. */
export type ExpiredTarget = Extract<End<ActivePolicy>, { kind: 'expired' }>;

/** Why a due object is not deleted yet, and when to evaluate it again. */
interface Obstacle {
  readonly after: Millis;
  /** For the trace. Default: another policy is not ready. */
  readonly because?: string;
  readonly note?: string;
}
/** The first retry while targets are being listed. The interval grows with the duration of the list. */
const LIST_RETRY = millis(500);
/** The retry interval while a user or operator has to act. */
const ACTION_RETRY = seconds(30);
/** The retry interval while the due objects of a policy are counted. */
const COUNT_RETRY = seconds(1);
const MOST_PROTECTED = 10_000;

export class TargetReconciler {
  readonly #options: TargetOptions;
  /** Uids whose DELETE was refused although the permissions are in order: a rule about the object refuses it. */
  readonly #protected = new BoundedSet(MOST_PROTECTED);

  constructor(options: TargetOptions) {
    this.#options = options;
  }

  async reconcile(
    ctx: ReconcileContext,
    { resource, key }: Extract<Waking, { kind: 'target' }>,
  ): Promise<Outcome> {
    const seen = gather(ctx, this.#options.policies.of(resource), key);
    if (seen === undefined) return again('caches differ');
    if (seen.length > 0) return this.#act(ctx, key, seen, this.#end(seen, ctx.now));
    await this.#resolveUnselected(ctx, key);
    return settled();
  }

  #end(seen: readonly SeenByActive[], now: Instant): End<ActivePolicy> {
    return decide(seen, { now, tolerance: this.#options.tolerance });
  }

  #act(
    ctx: ReconcileContext,
    key: ObjectKey,
    seen: readonly SeenByActive[],
    end: End<ActivePolicy>,
  ): Promise<Outcome> | Outcome {
    const [{ policy, object }] = seen as readonly [SeenByActive];
    const { kind } = policy;
    const observed = this.#options.expirer.observe(ctx, { id: idOf(ctx), kind, object });
    const record = (at: Instant | number, note?: (by: ActivePolicy) => string | undefined) => {
      for (const { policy: by, object: its } of seen) {
        const isDecided = end.kind !== 'none' && decidesFor(end.mode, by.mode);
        const said = (isDecided ? note?.(by) : undefined) ?? computeOwnError(end, by);
        by.records.record(keyOf(its), isDecided ? at : KEPT, said);
      }
    };
    this.#report(ctx, kind, object, end);
    switch (end.kind) {
      case 'none':
        record(KEPT);
        return settled();
      case 'kept':
        record(KEPT, end.because === 'error' ? (by) => computeError(end.decisions, by) : undefined);
        return end.because === 'being deleted' && observed.kind === 'terminating'
          ? observed.outcome
          : settled();
      case 'waiting':
        record(end.ends);
        return waitUntil(end.until, end.held ? 'finish in the future' : 'ttl');
      case 'expired': {
        const obstacle = this.#obstacle(ctx, key, end.by);
        record(end.since, () => obstacle?.note);
        if (end.by.mode === 'Paused' || observed.kind === 'deleting') return settled();
        return obstacle === undefined
          ? this.#delete(ctx, key, seen, end)
          : waitUntil(
              plus(ctx.now, obstacle.after),
              `held: ${obstacle.because ?? 'another policy is not ready'}`,
            );
      }
      default:
        return assertNever(end);
    }
  }

  async #delete(
    ctx: ReconcileContext,
    key: ObjectKey,
    seen: readonly SeenByActive[],
    end: ExpiredTarget,
  ): Promise<Outcome> {
    const { by } = end;
    const { object } = seen.find(({ policy }) => policy === by)!;
    const decide = (
      live: KubeObject,
      now: Instant,
    ): Decision<readonly SeenByActive[] | 'changed', ExpiredTarget> => {
      const seenNow = gatherLive(this.#options.policies.of(by.resource), by, key, live);
      if (seenNow === 'changed') return { kind: 'keep', because: seenNow };
      const next = this.#end(seenNow, now);
      if (next.kind !== 'expired') return { kind: 'keep', because: seenNow };
      if (next.by !== by) return { kind: 'keep', because: 'changed' };
      return { kind: 'delete', since: next.since, because: next };
    };
    let deletion: Deletion<readonly SeenByActive[] | 'changed'>;
    const { uid = '' } = object.metadata;
    const { gate } = by.limits;
    const held = claimDeletion(ctx, by, uid);
    if (held !== undefined) return held;
    try {
      deletion = await this.#options.expirer.expire(ctx, {
        kind: by.kind,
        object,
        since: end.since,
        because: end,
        decide,
        propagation: by.propagation,
        client: by.client,
        dryRun: by.mode === 'DryRun',
        together: this.#dueTogether(ctx, by),
        isThere: () => by.view?.reader.get(key)?.metadata.uid === uid,
        ...(by.budget === undefined ? {} : { budget: by.budget }),
      });
    } catch (error) {
      // An earlier DELETE of this attempt may have had no answer.
      if (!mayHaveActed(error) && this.#options.expirer.unanswered(idOf(ctx)) === undefined)
        gate.settle(uid, false);
      if (!this.#isAboutRights(error, uid, by, ctx.now)) return this.#failed(ctx, by.kind, object, error);
      by.suspect = true;
      ctx.log.warn({ policy: by.name, error }, 'a delete was refused, the rights are reviewed');
      return waitUntil(plus(ctx.now, ACTION_RETRY), 'held: delete refused');
    }
    gate.settle(uid, deletion.kind === 'deleted' || deletion.kind === 'terminating');
    if (deletion.kind === 'held' && deletion.why !== undefined)
      this.#reportNotSaved(ctx, keyOf(object), end, deletion.why);
    if (deletion.kind === 'refused') return this.#failed(ctx, by.kind, object, deletion.error);
    return outcomeOf(deletion, (kept) =>
      kept === 'changed' || kept.length === 0 ? again('changed meanwhile') : this.#kept(ctx, key, kept),
    );
  }

  /** The due targets of a policy, and the list that returns them. */
  #dueTogether(ctx: ReconcileContext, by: ActivePolicy): DueTogether<ExpiredTarget> {
    const { namespace, labelSelector } = by.source;
    const sentOf = (key: ObjectKey): SentDelete<ExpiredTarget>[] => {
      const seen = gather(ctx, this.#options.policies.of(by.resource), key) ?? [];
      const end = this.#end(seen, ctx.now);
      const object = seen.find(({ policy }) => policy === by)?.object;
      if (end.kind !== 'expired' || end.by !== by || object === undefined) return [];
      return [{ kind: by.kind, object, since: end.since, because: end }];
    };
    return {
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      size: by.view?.reader.size ?? 0,
      due: (most) => by.records.due(ctx.now, most).flatMap(sentOf),
    };
  }

  /**
   * A DELETE was answered with an error. Whether permissions may have been revoked, so that nothing is deleted before the
   * next review. Not if they were reviewed recently: then a rule about the object, for example a webhook, refuses it.
   */
  #isAboutRights(error: unknown, uid: string, { clearedUntil }: ActivePolicy, now: Instant): boolean {
    if (!(error instanceof ApiError) || error.code !== 403 || this.#protected.has(uid)) return false;
    if (clearedUntil === undefined || isDue(clearedUntil, now)) return true;
    this.#protected.add(uid);
    return false;
  }

  /** Emits the Event on the target; the runtime emits Events only on the kind of the controller. */
  #failed(ctx: ReconcileContext, kind: Kind, object: KubeObject, error: unknown): Outcome {
    const outcome = failed(error);
    const note = computeReport(outcome, ctx.failures + 1);
    if (note !== undefined) ctx.event(regarding(kind, object), note);
    return outcome;
  }

  /** In the status of the policy, and once as an Event on it. */
  #reportNotSaved(ctx: ReconcileContext, key: ObjectKey, { by, since }: ExpiredTarget, why: string): void {
    const note = describeNotSaved(why);
    by.records.record(key, since, note);
    const policy = ctx.cache.get(by.of, by.key);
    if (policy === undefined) return;
    const report = {
      because: note,
      reason: 'SaveFailed',
      note: `${by.kind.resource} ${objectName(key)}: ${note}`,
    };
    this.#options.expirer.reportOnce(ctx, by.of, policy, report);
  }

  /** The live object is kept after all. The caches will show the same state soon. */
  #kept(ctx: ReconcileContext, key: ObjectKey, seen: readonly SeenByActive[]): Outcome {
    const outcome = this.#act(ctx, key, seen, this.#end(seen, ctx.now));
    return outcome instanceof Promise ? again('changed meanwhile') : outcome;
  }

  /** Reports why an object is kept, if a user should know. */
  #report(ctx: ReconcileContext, kind: Kind, object: KubeObject, end: End): void {
    const { expirer, metrics } = this.#options;
    const notice = computeNotice(end);
    if (notice !== undefined && expirer.reportOnce(ctx, kind, object, notice))
      metrics.skipped(metricKind(kind), notice.because);
  }

  /**
   * No policy selects the object any more, or its list is not complete, so the caches do not show the result of a DELETE
   * without an answer: asks the API server. If it refuses the read, the DELETE is not counted.
   */
  async #resolveUnselected(ctx: ReconcileContext, key: ObjectKey): Promise<void> {
    const { expirer } = this.#options;
    const id = idOf(ctx);
    const sent = expirer.unanswered(id);
    if (sent === undefined) return;
    const { client, kind } = sent.because.by;
    try {
      expirer.observe(ctx, { id, kind, object: await readLive(client, kind, key) });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code >= 500 || error.code === 429) throw error;
      expirer.forget(id);
    }
  }

  /** A policy for the same kind that is not evaluated yet may keep the object longer: nothing is deleted before. */
  #obstacle(ctx: ReconcileContext, key: ObjectKey, by: ActivePolicy): Obstacle | undefined {
    if (by.suspect)
      return { after: ACTION_RETRY, note: 'nothing is deleted before its rights have been reviewed' };
    return this.#otherPolicies(ctx, key, by) ?? this.#start(ctx, by);
  }

  /** More objects than limits.firstActivation may be due: nothing is deleted before all are counted. */
  #start({ dryRun }: ReconcileContext, { mode, limits, view }: ActivePolicy): Obstacle | undefined {
    if (mode !== 'Enforce' || dryRun || limits.gate.state.exceeded !== undefined) return undefined;
    const mayStart = limits.mayStart(view?.reader.size ?? 0);
    return mayStart ? undefined : { after: COUNT_RETRY, because: 'due objects are counted' };
  }

  #otherPolicies(ctx: ReconcileContext, key: ObjectKey, by: ActivePolicy): Obstacle | undefined {
    const { policies, kinds } = this.#options;
    const others = policiesFor(ctx.cache, kinds, by.kind, key.namespace);
    const obstacle = computeObstacle(others, (policy) => policies.standingOf(policy));
    if (obstacle === undefined) return undefined;
    if (obstacle.kind === 'lasting') return { after: ACTION_RETRY, note: obstacle.note };
    const waited = minus(ctx.now, policies.sinceOf(obstacle.policy) ?? ctx.now);
    return { after: millis(Math.min(Math.max(waited, LIST_RETRY), ACTION_RETRY)) };
  }
}

/** The key of a target in the queue is its `objectId`. */
const idOf = ({ key }: ReconcileContext): string => objectName(key);
