// Reconciles one policy: reviews whether it may act, declares its sources and writes its status.

import { type Instant, instant, isDue, minutes, plus, seconds } from '@lapse/base/instant';
import { findCondition } from '@lapse/kube/api/conditions';
import { invalidError } from '@lapse/kube/api/fieldErrors';
import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import { patchStatus } from '@lapse/runtime/patchStatus';
import type { DynamicView, ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { Source } from '@lapse/runtime/source';
import { type Activation, type ActivationOptions, activate } from './activation.ts';
import { type AnyPolicy, type CompiledPolicy, compilePolicy } from './compile.ts';
import type { Waking } from './keys.ts';
import { type ActivePolicy, type Entry, isSynced, type Policies } from './policies.ts';
import { policySources } from './policyIndex.ts';
import { reviewLimits } from './policyLimits.ts';
import { reportStopped } from './reportStopped.ts';
import type { Refusal } from './rights.ts';
import { DEFINITIONS, NAMESPACES } from './sources.ts';
import { computeStatus, computeStep, type Report } from './status.ts';
import type { Counts } from './targetRecords.ts';

export interface PolicyOptions extends ActivationOptions {
  readonly policies: Policies;
  /** Set: only this namespace is watched. */
  readonly namespace?: string;
}

/** The minimum interval between counts, and the retry interval while targets are not evaluated yet. */
const COUNTING = seconds(1);
/** The usual time from a deadline to the deletion. */
const SETTLING = seconds(2);
/** How long reviewed permissions are not reviewed again because of a refused DELETE. */
const CLEARED = minutes(5);
/** While objects are overdue, their deletion may have been refused: the policy is reconciled this often. */
const OVERDUE = seconds(30);

export async function reconcilePolicy(
  ctx: ReconcileContext,
  { of, key }: Extract<Waking, { kind: 'policy' }>,
  options: PolicyOptions,
): Promise<Outcome> {
  const { policies } = options;
  const isEverywhere = options.namespace === undefined;
  const policy = ctx.cache.get(of, key);
  if (policy === undefined || policy.metadata.deletionTimestamp !== undefined) {
    policies.forget(key);
    ctx.dynamic.declare([]);
    return settled();
  }
  const entry = policies.entryOf(policy, key, ctx.now);
  entry.records.continueFrom(policy.status?.deleted ?? 0);
  const compiled = compilePolicy(policy);
  if (compiled.kind === 'invalid') {
    entry.broken = true;
    const { message } = invalidError({ group: 'lapse.dev', kind: policy.kind }, key.name, compiled.errors);
    return reconcileRefused(ctx, of, policy, {
      entry,
      refusal: { reason: 'InvalidSpec', message },
      isEverywhere,
    });
  }
  await review(ctx, policy, compiled.policy, entry, options);
  const activation = entry.activation!;
  if (activation.kind === 'allowed')
    return reconcileAllowed(ctx, of, policy, entry, {
      active: policies.activate(entry, compiled.policy, activation, ctx.now),
      policySources: policySources(options.namespace),
      isRecorded: options.actAs === 'author',
    });
  policies.deactivate(entry);
  return reconcileRefused(ctx, of, policy, { entry, refusal: activation.refusal, isEverywhere });
}

/** Reviews the permissions when the review is due, when a DELETE was refused, and when its kind may be served. */
async function review(
  ctx: ReconcileContext,
  policy: AnyPolicy,
  compiled: CompiledPolicy,
  entry: Entry,
  options: PolicyOptions,
): Promise<void> {
  const { activation, active } = entry;
  const awaits = activation?.kind === 'refused' && activation.awaits !== undefined;
  const isCurrent =
    activation !== undefined && (activation.reviewAt === undefined || !isDue(activation.reviewAt, ctx.now));
  if (isCurrent && !awaits && active?.suspect !== true) return;
  // A CRD was created: discovery is outdated. Otherwise a cached discovery is good enough.
  if (isCurrent && awaits) options.client.discovery.invalidate();
  const isComing = activation === undefined || (isCurrent && awaits);
  try {
    entry.activation = await activate(options, policy, compiled, { now: ctx.now, isComing });
    entry.isUnsure = false;
  } catch (error) {
    entry.isUnsure = true;
    if (active !== undefined) active.suspect = true;
    throw error;
  }
  if (active?.suspect !== true) return;
  active.suspect = false;
  active.clearedUntil = plus(ctx.now, CLEARED);
}

/** The policy may not act: writes the reason to the status and schedules the next review. */
async function reconcileRefused(
  ctx: ReconcileContext,
  of: Kind<AnyPolicy>,
  policy: AnyPolicy,
  { entry, refusal, isEverywhere }: { entry: Entry; refusal: Refusal; isEverywhere: boolean },
): Promise<Outcome> {
  const { activation } = entry;
  const awaits = activation?.kind === 'refused' && activation.awaits !== undefined;
  // With a namespace, Lapse may lack the permission to watch CRDs: then discovery is polled.
  ctx.dynamic.declare(awaits && isEverywhere ? [DEFINITIONS] : []);
  const report: Report = { kind: 'refused', refusal, deleted: entry.records.deleted };
  const at = refusal.reason === 'InvalidSpec' ? undefined : activation?.reviewAt;
  return writeStatus(ctx, of, policy, { entry, report, next: at });
}

interface Allowed {
  readonly active: ActivePolicy;
  readonly policySources: readonly Source[];
  /** Whether the webhook records who approves deletions. */
  readonly isRecorded: boolean;
}

async function reconcileAllowed(
  ctx: ReconcileContext,
  of: Kind<AnyPolicy>,
  policy: AnyPolicy,
  entry: Entry,
  { active, policySources: others, isRecorded }: Allowed,
): Promise<Outcome> {
  const { reviewAt, notice } = entry.activation as Extract<Activation, { kind: 'allowed' }>;
  const needsNamespaces = active.namespaceLabels !== undefined;
  const views = ctx.dynamic.declare([active.source, ...(needsNamespaces ? [NAMESPACES] : []), ...others]);
  const view = views[0]!;
  const namespaces = needsNamespaces ? views[1] : undefined;
  active.view = view;
  if (namespaces !== undefined) active.namespaces = namespaces;
  const problem = problemOf(view) ?? problemOf(namespaces);
  if (problem === undefined && !isSynced(active)) return waitFor(reviewAt);
  if (problem !== undefined && (problem.isLasting || !isSynced(active))) {
    const report: Report = { kind: 'refused', refusal: problem, deleted: entry.records.deleted };
    return writeStatus(ctx, of, policy, { entry, report, next: reviewAt });
  }
  // Every event of a target triggers this function. Counting a hundred thousand targets takes milliseconds, so the counts
  // are limited. After a failure the queue retries with backoff; waiting here would reset the backoff.
  const countAt = entry.countedAt === undefined ? ctx.now : plus(entry.countedAt, COUNTING);
  if (ctx.failures === 0 && !isDue(countAt, ctx.now)) return waitUntil(countAt, 'counting');
  if (entry.records.size < view.reader.size) return waitUntil(plus(ctx.now, COUNTING), 'counting');
  entry.countedAt = ctx.now;
  const counts = entry.records.count(ctx.now);
  const { deleted } = entry.records;
  const { limits } = entry;
  const { isActivated, configuration, gate } = limits;
  const reviewed = reviewLimits(gate.state, {
    policy: limits.newest(policy),
    mode: active.mode,
    counts,
    now: ctx.now,
    isActivated,
    firstActivation: configuration.firstActivation,
    isRecorded,
  });
  if (reviewed.enforcedGeneration !== undefined) limits.isActivated = true;
  // Before the write, whose watch event triggers the reconciles of the targets. They record the approval, too.
  if (reviewed.limits.exceeded === undefined) gate.adopt(reviewed.limits);
  const report: Report = { kind: 'working', mode: active.mode, counts, deleted, notice, ...reviewed };
  const next = computeNext(active, counts, reviewAt, ctx.now);
  return writeStatus(ctx, of, policy, { entry, report, next });
}

/** When the counts may change without an event: after the next deadline, or while objects are overdue. */
function computeNext(
  { mode }: ActivePolicy,
  { next, due }: Counts,
  reviewAt: Instant | undefined,
  now: Instant,
): Instant | undefined {
  const wakes = [
    ...(reviewAt === undefined ? [] : [reviewAt]),
    ...(mode !== 'Paused' && due > 0 ? [plus(now, OVERDUE)] : []),
    ...(next === undefined ? [] : [plus(next, SETTLING)]),
  ];
  return wakes.length === 0 ? undefined : instant(Math.min(...wakes));
}

const waitFor = (at: Instant | undefined): Outcome =>
  at === undefined ? settled() : waitUntil(at, 'review');

/** `isLasting`: the cache still has the targets, but a user or operator has to act. */
function problemOf(view: DynamicView | undefined): (Refusal & { isLasting: boolean }) | undefined {
  const problem = view?.status.problem;
  if (view === undefined || problem === undefined) return undefined;
  const { kind } = view.source;
  return {
    reason: problem.kind === 'notServed' ? 'KindNotServed' : 'CannotRead',
    message: `${problem.verb} ${kind.resource}: ${problem.error.message}`,
    isLasting: problem.kind === 'notServed' || problem.kind === 'forbidden',
  };
}

interface Writing {
  readonly entry: Entry;
  readonly report: Report;
  /** The next evaluation because of the time. */
  readonly next: Instant | undefined;
}

async function writeStatus(
  ctx: ReconcileContext,
  of: Kind<AnyPolicy>,
  cached: AnyPolicy,
  { entry, report, next }: Writing,
): Promise<Outcome> {
  const policy = newestOf(entry, cached);
  const status = computeStatus(policy, report, ctx.now);
  const { written } = entry;
  const step = computeStep(policy.status, status, written, ctx.now);
  const outcome = waitFor(next);
  if (step.kind === 'same') {
    delete written.differsSince;
    return outcome;
  }
  written.differsSince ??= ctx.now;
  if (step.kind === 'later') return waitUntil(instant(Math.min(step.at, next ?? step.at)), 'status');
  const patched = await patchStatus(ctx, of, policy, status);
  if (patched.kind === 'refused') throw patched.error;
  if ('outcome' in patched) return patched.outcome;
  written.wroteAt = ctx.now;
  delete written.differsSince;
  entry.limits.remember(patched.object);
  if (report.kind === 'working') entry.limits.gate.adopt(status.limits ?? {});
  reportRefusal(ctx, policy, report);
  reportStopped(ctx, policy, status);
  return outcome;
}

/** The cache may be behind the last write of this process. Another spec is not evaluated yet. */
function newestOf({ limits }: Entry, cached: AnyPolicy): AnyPolicy {
  const newest = limits.newest(cached);
  return newest.metadata.generation === cached.metadata.generation ? newest : cached;
}

/** Emits an Event when the policy stops working, with the reason; not at every change of the counts. */
function reportRefusal(ctx: ReconcileContext, policy: AnyPolicy & KubeObject, report: Report): void {
  const before = findCondition(policy.status?.conditions, 'Ready');
  if (report.kind === 'working' || before?.reason === report.refusal.reason) return;
  const { reason, message } = report.refusal;
  ctx.event(policy, { type: 'Warning', reason, action: 'Reconcile', note: message });
}
