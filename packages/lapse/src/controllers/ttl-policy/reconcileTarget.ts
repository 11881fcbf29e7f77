// Reconciles one target: evaluates every policy that selects it and acts on the combined decision.

import { assertNever } from '@lapse/base/assertNever';
import { type Instant, type Millis, millis, minus, plus, seconds } from '@lapse/base/instant';
import { type Kind, keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { matchesLabels } from '@lapse/kube/api/selectors';
import { ApiError } from '@lapse/kube/api/status';
import { again, failed, type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { Pass } from '@lapse/runtime/pass';
import { computeReport } from '@lapse/runtime/report';
import { ClusterTTLPolicy, TTLPolicy } from '#api/ttlPolicy';
import { BoundedSet } from '#deletion/boundedSet';
import { type Deletion, outcomeOf } from '#deletion/deletion';
import { type Decision, type GuardedDeletes, mayHaveActed } from '#deletion/guardedDelete';
import { computeTerminating } from '#deletion/terminating';
import { collectSeen, isInNamespaces, isSameForm, type SeenByActive } from './collectSeen.ts';
import { decidesFor, type End } from './combine.ts';
import type { AnyPolicy } from './compile.ts';
import { computeEnd, computeError, computeObstacle, computeOwnError, describeDecisions } from './compute.ts';
import { objectName, type Waking } from './keys.ts';
import { readLive } from './live.ts';
import type { PolicyMetrics } from './metrics.ts';
import { OpenDeletions } from './openDeletions.ts';
import { type ActivePolicy, metricKind, type Policies, targetIdOf } from './policies.ts';
import { Refusals } from './refusals.ts';
import { Reports, regarding } from './reports.ts';
import { KEPT } from './targetRecords.ts';

export interface TargetPassOptions {
  readonly policies: Policies;
  readonly deletes: GuardedDeletes;
  readonly metrics: PolicyMetrics;
  readonly tolerance: Millis;
  /** Whether ClusterTTLPolicies are evaluated. */
  readonly clusterWide: boolean;
  /** Emit an Event on every deleted object with the reason. */
  readonly deletionEvents: boolean;
}

type Expired = Extract<End<ActivePolicy>, { kind: 'expired' }>;
type Accepted = Extract<Deletion, { kind: 'deleted' | 'terminating' }>;

/** Why a due object is not deleted yet, and when to evaluate it again. */
interface Obstacle {
  readonly after: Millis;
  readonly note?: string;
}
/** The first retry while targets are being listed. The interval grows with the duration of the list. */
const LIST_RETRY = millis(500);
/** The retry interval while a user or operator has to act. */
const ACTION_RETRY = seconds(30);
/** The number of own deletions that are remembered. */
const MOST_OWN_DELETIONS = 100_000;

export class TargetPasses {
  readonly #options: TargetPassOptions;
  readonly #reports: Reports;
  readonly #refusals = new Refusals();
  /** Uids whose deletion was accepted. */
  readonly #ownDeletions = new BoundedSet(MOST_OWN_DELETIONS);
  readonly #unanswered = new OpenDeletions<Expired>();
  /** Uids with a deletion in flight: an object that policies of both kinds select is in both queues. */
  readonly #inFlight = new Set<string>();

  constructor(options: TargetPassOptions) {
    this.#options = options;
    this.#reports = new Reports(options.metrics);
  }

  async reconcile(pass: Pass, { resource, key }: Extract<Waking, { kind: 'target' }>): Promise<Outcome> {
    const seen = collectSeen(pass, this.#options.policies.of(resource), key);
    if (seen === undefined) return again('caches differ');
    if (this.#unanswered.has(nameIn(pass))) await this.#countUnanswered(pass, key, seen[0]?.object);
    if (seen.length === 0) return settled();
    return this.#act(pass, key, seen, this.#end(seen, pass.now));
  }

  #end(seen: readonly SeenByActive[], now: Instant): End<ActivePolicy> {
    return computeEnd(seen, { now, tolerance: this.#options.tolerance });
  }

  #act(
    pass: Pass,
    key: ObjectKey,
    seen: readonly SeenByActive[],
    end: End<ActivePolicy>,
  ): Promise<Outcome> | Outcome {
    const { policy, object } = seen[0]!;
    const record = (at: Instant | number, note?: (by: ActivePolicy) => string | undefined) => {
      for (const { policy: by, object: its } of seen) {
        const isDecided = end.kind !== 'none' && decidesFor(end.mode, by.mode);
        const said = (isDecided ? note?.(by) : undefined) ?? computeOwnError(end, by);
        by.records.record(keyOf(its), isDecided ? at : KEPT, said);
      }
    };
    this.#reports.report(pass, policy.kind, object, end);
    switch (end.kind) {
      case 'none':
        record(KEPT);
        return settled();
      case 'kept':
        record(KEPT, end.because === 'error' ? (by) => computeError(end.decisions, by) : undefined);
        return end.because === 'being deleted'
          ? this.#reconcileTerminating(pass, policy.kind, object)
          : settled();
      case 'waiting':
        record(end.ends);
        return waitUntil(end.until, end.held ? 'finish in the future' : 'ttl');
      case 'expired': {
        const obstacle = this.#obstacle(pass, key, end.by);
        record(end.since, () => obstacle?.note);
        const { uid = '' } = object.metadata;
        if (end.by.mode === 'Paused' || this.#inFlight.has(uid) || this.#ownDeletions.has(uid))
          return settled();
        return obstacle === undefined
          ? this.#delete(pass, key, seen, end)
          : waitUntil(plus(pass.now, obstacle.after), 'held: another policy is not ready');
      }
      default:
        return assertNever(end);
    }
  }

  async #delete(pass: Pass, key: ObjectKey, seen: readonly SeenByActive[], end: Expired): Promise<Outcome> {
    const { by } = end;
    const { object } = seen.find(({ policy }) => policy === by)!;
    let last = end;
    const decide = (live: KubeObject, now: Instant): Decision<readonly SeenByActive[] | 'changed'> => {
      const seenNow = this.#seenLive(by, key, live);
      if (seenNow === 'changed') return { kind: 'keep', verdict: seenNow };
      const next = this.#end(seenNow, now);
      if (next.kind !== 'expired') return { kind: 'keep', verdict: seenNow };
      if (next.by !== by) return { kind: 'keep', verdict: 'changed' };
      last = next;
      return { kind: 'delete', since: next.since };
    };
    let deletion: Deletion<readonly SeenByActive[] | 'changed'>;
    const { uid = '' } = object.metadata;
    this.#inFlight.add(uid);
    try {
      deletion = await this.#options.deletes.delete(withKind(pass, by.kind), {
        kind: by.kind,
        object,
        since: end.since,
        decide,
        propagation: by.propagation,
        client: by.client,
        dryRun: by.mode === 'DryRun',
        isThere: () => by.view?.reader.get(key)?.metadata.uid === uid,
        ...(by.budget === undefined ? {} : { budget: by.budget }),
      });
    } catch (error) {
      const isDry = pass.dryRun || by.mode === 'DryRun';
      if (mayHaveActed(error) && !isDry) this.#unanswered.add(nameIn(pass), object, last);
      if (!this.#refusals.isAboutRights(error, uid, by, pass.now))
        return this.#failed(pass, by.kind, object, error);
      by.suspect = true;
      pass.log.warn({ policy: by.name, error }, 'a delete was refused, the rights are reviewed');
      return waitUntil(plus(pass.now, ACTION_RETRY), 'held: delete refused');
    } finally {
      this.#inFlight.delete(uid);
    }
    this.#unanswered.forget(nameIn(pass));
    this.#count(pass, key, object, last, deletion);
    if (deletion.kind === 'refused') return this.#failed(pass, by.kind, object, deletion.error);
    return outcomeOf(deletion, (kept) =>
      kept === 'changed' || kept.length === 0 ? again('changed meanwhile') : this.#kept(pass, key, kept),
    );
  }

  /** Emits the Event on the target; the runtime emits Events only on the kind of the controller. */
  #failed(pass: Pass, kind: Kind, object: KubeObject, error: unknown): Outcome {
    const outcome = failed(error);
    const note = computeReport(outcome, pass.failures + 1);
    if (note !== undefined) pass.event(regarding(kind, object), note);
    return outcome;
  }

  /** The live object is kept after all. The caches will show the same state soon. */
  #kept(pass: Pass, key: ObjectKey, seen: readonly SeenByActive[]): Outcome {
    const outcome = this.#act(pass, key, seen, this.#end(seen, pass.now));
    return outcome instanceof Promise ? again('changed meanwhile') : outcome;
  }

  /** The live object for every policy that selects it now; `changed` if the policies read it in different forms. */
  #seenLive(by: ActivePolicy, key: ObjectKey, live: KubeObject): readonly SeenByActive[] | 'changed' {
    const seen: SeenByActive[] = [];
    for (const policy of this.#options.policies.of(by.resource)) {
      if (!isInNamespaces(policy, key) || !matchesLabels(policy.labels, live.metadata.labels ?? {})) continue;
      if (!isSameForm(policy.kind, by.kind)) return 'changed';
      seen.push({ policy, object: live });
    }
    return seen;
  }

  #count(
    pass: Pass,
    key: ObjectKey,
    object: KubeObject,
    { by, decisions }: Expired,
    deletion: Deletion<unknown>,
  ): void {
    const kind = metricKind(by.kind);
    const { metrics } = this.#options;
    const namespace = key.namespace ?? '';
    if (deletion.kind === 'deleted' || deletion.kind === 'terminating') {
      const { lag } = deletion satisfies Accepted;
      metrics.lag(kind, lag / 1000);
      metrics.deleted(kind, namespace, deletion.kind);
      by.records.countDeleted();
      this.#ownDeletions.add(object.metadata.uid ?? '');
      pass.log.debug({ policy: by.name, lagMs: lag, outcome: deletion.kind }, 'deleted');
      if (!this.#options.deletionEvents) return;
      const note = `${describeDecisions(decisions)}; deleted ${(lag / 1000).toFixed(1)} s after its deadline by ${by.name}`;
      pass.event(regarding(by.kind, object), { type: 'Normal', reason: 'Deleted', action: 'Delete', note });
    } else if (deletion.kind === 'wouldDelete' && this.#reports.isFirst(`${object.metadata.uid} would`))
      metrics.deleted(kind, namespace, 'wouldDelete');
  }

  /**
   * Counts a DELETE without a clear answer at the time when its result is seen. If no policy selects the object any more,
   * or its list is not complete, the caches do not show the result; then the API server is asked.
   */
  async #countUnanswered(pass: Pass, key: ObjectKey, cached: KubeObject | undefined): Promise<void> {
    const seen = cached ?? (await this.#readUnanswered(pass, key));
    if (seen === 'unknown') return;
    const closed = this.#unanswered.close(nameIn(pass), seen);
    if (closed === undefined) return;
    const { outcome, object, decided } = closed;
    const { deletion } = this.#options.metrics;
    const lag = millis(Math.max(0, minus(pass.now, decided.since)));
    deletion.outcome(outcome);
    deletion.lag.observe(lag / 1000);
    deletion.done(object.metadata.uid ?? '');
    this.#count(pass, key, object, decided, { kind: outcome, lag });
  }

  /** `unknown`: the API server refuses the read. Then the DELETE is not counted. */
  async #readUnanswered(pass: Pass, key: ObjectKey): Promise<KubeObject | 'unknown' | undefined> {
    const { client, kind } = this.#unanswered.get(nameIn(pass))!.decided.by;
    try {
      return await readLive(client, kind, key);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code >= 500 || error.code === 429) throw error;
      this.#unanswered.forget(nameIn(pass));
      return 'unknown';
    }
  }

  /** The object is terminating. If Lapse deleted it, checks for stuck finalizers. */
  #reconcileTerminating(pass: Pass, kind: Kind, object: KubeObject): Outcome {
    const { uid = '' } = object.metadata;
    if (!this.#ownDeletions.has(uid)) return settled();
    const state = computeTerminating(object, pass.now);
    if (state.kind === 'wait') return waitUntil(state.until, 'terminating');
    this.#ownDeletions.delete(uid);
    pass.event(regarding(kind, object), {
      type: 'Warning',
      reason: 'StuckTerminating',
      action: 'Delete',
      note: state.note,
    });
    return settled();
  }

  /** A policy for the same kind that is not evaluated yet may keep the object longer: nothing is deleted before. */
  #obstacle(pass: Pass, key: ObjectKey, by: ActivePolicy): Obstacle | undefined {
    if (by.suspect)
      return { after: ACTION_RETRY, note: 'nothing is deleted before its rights have been reviewed' };
    const { policies, clusterWide } = this.#options;
    const id = targetIdOf(by.kind);
    const here = pass.cache.byIndex(TTLPolicy, 'target', id);
    const policiesOfKind: AnyPolicy[] = [
      ...here.filter(({ metadata }) => metadata.namespace === key.namespace),
      ...(clusterWide ? pass.cache.byIndex(ClusterTTLPolicy, 'target', id) : []),
    ];
    const obstacle = computeObstacle(policiesOfKind, (policy) => policies.standingOf(policy));
    if (obstacle === undefined) return undefined;
    if (obstacle.kind === 'lasting') return { after: ACTION_RETRY, note: obstacle.note };
    const waited = minus(pass.now, policies.sinceOf(obstacle.policy) ?? pass.now);
    return { after: millis(Math.min(Math.max(waited, LIST_RETRY), ACTION_RETRY)) };
  }
}

/** Events on metadata-only objects name their real kind. */
const withKind = (pass: Pass, kind: Kind): Pass => ({
  ...pass,
  event: (object, note) => pass.event(regarding(kind, object as KubeObject), note),
});

/** The name of the target in the queue. */
const nameIn = ({ key }: Pass): string => objectName(key);
