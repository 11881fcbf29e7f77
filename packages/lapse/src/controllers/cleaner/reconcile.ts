// The reconcile of one Cleaner: checks its TTL, evaluates its conditions on the caches, then on the API server, and
// applies the decision. Decisions are in decide.ts and conditions.ts.

import { assertNever } from '@lapse/base/assertNever';
import { formatTime, isDue, type Millis, minutes, plus, seconds } from '@lapse/base/instant';
import { nextTurn } from '@lapse/base/turn';
import { ApiError } from '@lapse/kube/api/status';
import { TransportError } from '@lapse/kube/client/transport';
import { type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { Cleaner } from '#api/cleaner';
import { type AuthorizedClient, describeError } from '#authors/authorizedClient';
import { apply } from './apply.ts';
import {
  type ConditionResult,
  computeNextLook,
  describeOutcomes,
  evaluate,
  type NextEvaluation,
} from './conditions.ts';
import { type Context, generationOf, type Scope } from './context.ts';
import { computeGate, computeObstacle, decide, type Gate, type Obstacle } from './decide.ts';
import { describeDelayUntil } from './delay.ts';
import { confirm, type Gathered, gather, readOthers, readUnwatched } from './gather.ts';
import { waitOf } from './projection.ts';
import { periodOf, report, reportForPeriod, reportUnavailable, reportUntil } from './report.ts';
import { resume } from './resume.ts';
import { needsToSee } from './rights.ts';
import { describeProblems, type Meaning, understand } from './spec.ts';
import type { Reason } from './status.ts';
import { bindingsOf, type Found, type Shown, shownOf } from './targets.ts';
import { keyId } from './waits.ts';
import { watchNothing } from './watches.ts';

/** Delay with which discovery follows a new CRD. */
const SOON: Millis = seconds(6);
/** Number of failures that are not reported in status. The queue retries these within a second. */
const QUIET_FAILURES = 2;
const RETRY: Millis = minutes(1);
const CLOCK_HOLD: Millis = seconds(30);
const CLOCK_UNKNOWN =
  "nothing is deleted: the API server's clock is unknown, or further away than maxClockSkew allows";

export const createReconcile =
  (context: Context) =>
  (ctx: ReconcileContext): Promise<Outcome> | Outcome => {
    const cached = ctx.cache.get(Cleaner, ctx.key);
    const until = waitOf(cached);
    if (until === undefined) return reconcileWhole(ctx, context, cached);
    if (isDue(until, ctx.now)) return reconcileDue(ctx, context);
    watchNothing(ctx, context);
    return waitUntil(until, 'ttl');
  };

/** The cache has only the deadline. The object is read from the API server, as it may have changed. */
const reconcileDue = async (ctx: ReconcileContext, context: Context): Promise<Outcome> =>
  reconcileWhole(ctx, context, await ctx.client.get(Cleaner, ctx.key));

function reconcileWhole(
  ctx: ReconcileContext,
  context: Context,
  cleaner: Cleaner | undefined,
): Promise<Outcome> | Outcome {
  // A deleted Cleaner, whether by a user or as the last step, deletes nothing else.
  if (cleaner === undefined || cleaner.metadata.deletionTimestamp !== undefined) {
    context.memos.delete(ctx.key);
    context.holds.delete(ctx.key);
    context.done.delete(keyId(ctx.key));
    context.metrics.stopped(keyId(ctx.key), false);
    watchNothing(ctx, context);
    return settled();
  }
  const held = context.holds.find(cleaner, String(generationOf(cleaner)), ctx.now);
  return held ?? reconcileVisibly({ ctx, context, cleaner });
}

/** Reports requests that keep failing in status and retries every minute. */
async function reconcileVisibly(scope: Scope): Promise<Outcome> {
  const { ctx } = scope;
  try {
    return await reconcileExisting(scope);
  } catch (error) {
    const isAnswer = error instanceof ApiError || error instanceof TransportError;
    if (!isAnswer || ctx.failures < QUIET_FAILURES) throw error;
    ctx.log.warn({ error: error.message }, 'reconcile keeps failing; retrying every minute');
    const message = `the API server cannot be used: ${describeError(error)}`;
    return reportUnavailable(scope, 'Unavailable', message, RETRY);
  }
}

function reconcileExisting(scope: Scope): Promise<Outcome> {
  const { ctx, context, cleaner } = scope;
  const record = cleaner.status?.deletion;
  if (record !== undefined) {
    watchNothing(ctx, context);
    return resume(scope, record);
  }
  const understood = understand(cleaner);
  if (understood.kind === 'invalid') return reportInvalid(scope, describeProblems(understood.problems));
  const { meaning } = understood;
  const gate = computeGate(cleaner, meaning.ttl, ctx.now);
  if (gate.kind === 'open') return reconcileExpired(scope, meaning);
  watchNothing(ctx, context);
  return gate.kind === 'waiting' ? reportWaiting(scope, gate) : reportKept(scope, gate);
}

function reportWaiting(
  scope: Scope,
  { until, delayed }: Extract<Gate, { kind: 'waiting' }>,
): Promise<Outcome> {
  const message =
    delayed === true
      ? describeDelayUntil(until)
      : 'nothing is evaluated or deleted before the TTL has passed';
  return report(scope, { reason: 'NotExpired', message, next: until }, waitUntil(until, 'ttl'));
}

/** Kept until its annotations change. */
const reportKept = (scope: Scope, { kind, note }: Extract<Gate, { kind: 'never' | 'invalid' }>) =>
  report(scope, { reason: kind === 'never' ? 'OptedOut' : 'InvalidAnnotation', message: note }, settled());

function reportInvalid(scope: Scope, message: string): Promise<Outcome> {
  watchNothing(scope.ctx, scope.context);
  return report(scope, { reason: 'InvalidSpec', message }, settled());
}

/** The TTL is over: gathers the objects that conditions read, as far as the caches have them. */
async function reconcileExpired(scope: Scope, meaning: Meaning): Promise<Outcome> {
  const { ctx, context, cleaner } = scope;
  const actor = await context.actors.of(cleaner, ctx.signal);
  if (actor.kind === 'noActor') {
    watchNothing(ctx, context);
    const basis = `${actor.reason};${generationOf(cleaner)}`;
    return reportForPeriod(scope, meaning, basis, { reason: actor.reason, message: actor.why });
  }
  const gathered = await gather(scope, meaning);
  switch (gathered.kind) {
    case 'refused':
      return reportInvalid(scope, gathered.why);
    case 'unsynced':
      // A source that becomes synced, or fails, also triggers a reconcile.
      if (gathered.why === undefined) return waitUntil(plus(ctx.now, RETRY), 'unsynced');
      return reportUnavailable(scope, 'Unavailable', gathered.why, RETRY);
    case 'unserved': {
      const { basis, why: message, soon } = gathered;
      const until = plus(ctx.now, soon ? SOON : periodOf(meaning));
      return reportUntil(scope, { basis, until, why: 'KindNotServed' }, { reason: 'KindNotServed', message });
    }
    case 'gathered': {
      const unchanged = context.memos.find(cleaner, gathered.basis, ctx.now);
      if (unchanged !== undefined) return unchanged;
      const { client } = actor;
      const { seen, forbidden } = await readUnwatched(scope, gathered, client);
      const evaluating = { scope, meaning, client, gathered, seen };
      if (forbidden === undefined) return evaluateSeen(evaluating);
      return reportObstacle(evaluating, { reason: 'Forbidden', message: forbidden });
    }
    default:
      return assertNever(gathered);
  }
}

/** A Cleaner whose TTL is over. */
interface Evaluating {
  readonly scope: Scope;
  readonly meaning: Meaning;
  readonly client: AuthorizedClient;
  readonly gathered: Gathered;
  /** The objects of included targets, from the caches where they are watched. */
  readonly seen: readonly Found[];
}

async function evaluateSeen(evaluating: Evaluating): Promise<Outcome> {
  const { scope, meaning, client, gathered, seen } = evaluating;
  const { ctx, context } = scope;
  const refusal = await client.refusal(needsToSee(gathered.resolved, ctx.key.namespace ?? ''), false);
  if (refusal !== undefined) return reportObstacle(evaluating, { reason: 'Forbidden', message: refusal });
  const obstacle = computeObstacle(seen);
  if (obstacle !== undefined) return reportObstacle(evaluating, obstacle, await show(evaluating));
  const result = await evaluate(meaning.conditions, bindingsOf(seen), ctx.now);
  context.metrics.evaluated(result.result);
  return result.result === 'true' ? confirmAndApply(evaluating) : evaluateLater(evaluating, result, seen);
}

/** All conditions are true in the caches. They must also be true on the API server before anything is deleted. */
async function confirmAndApply(evaluating: Evaluating): Promise<Outcome> {
  const { scope, meaning, client, gathered } = evaluating;
  const { ctx, context, cleaner } = scope;
  if ((await context.guard.check()).kind !== 'good')
    return reportUnavailable(scope, 'ClockUnknown', CLOCK_UNKNOWN, CLOCK_HOLD);
  // The API server's clock may have been unknown when the reconcile began. In that case TTL and conditions were
  // evaluated too early.
  if (!isDue(ctx.now, context.guard.now())) return waitUntil(ctx.now, 'clock ahead');
  const confirmed = await confirm(scope, meaning, gathered.resolved, client);
  if (confirmed.kind === 'obstacle') return reportObstacle(evaluating, confirmed.obstacle);
  const { conditionResult, found } = confirmed;
  if (conditionResult.result !== 'true') return evaluateLater(evaluating, conditionResult, found);
  const decision = decide(
    cleaner,
    meaning,
    confirmed,
    { account: client.account, author: client.author, limits: context.options.limits },
    ctx.now,
  );
  context.metrics.stopped(keyId(ctx.key), decision.kind === 'not' && decision.obstacle.limits !== undefined);
  if (decision.kind === 'not') return reportObstacle(evaluating, decision.obstacle);
  return apply(decision, { scope, meaning, client, basis: gathered.basis, found, conditionResult });
}

function reportObstacle(
  { scope, meaning, gathered: { basis } }: Evaluating,
  { reason, message, until, limits }: Obstacle,
  shown?: Shown,
): Promise<Outcome> {
  const what = {
    reason,
    message,
    ...(shown === undefined ? {} : { shown }),
    ...(limits === undefined ? {} : { limits }),
  };
  if (until === undefined) return reportForPeriod(scope, meaning, basis, what);
  return reportUntil(scope, { basis, until, why: reason }, what);
}

/** The part of the status that shows targets. Read after every decision, so that it cannot delay or fail one. */
const show = async ({ scope, gathered, client, seen }: Evaluating): Promise<Shown> =>
  shownOf([...seen, ...(await readOthers(scope.ctx.key.namespace ?? '', gathered, client))]);

const UNTRUE: Readonly<Record<ConditionResult['result'], Reason>> = {
  true: 'WaitingForConditions',
  false: 'WaitingForConditions',
  error: 'ConditionError',
  budget: 'BudgetExceeded',
};

/** Not all conditions are true for the objects in `found`. */
async function evaluateLater(
  evaluating: Evaluating,
  { result, outcomes }: ConditionResult,
  found: readonly Found[],
): Promise<Outcome> {
  const { scope, meaning, gathered } = evaluating;
  const watched = gathered.unwatched.length === 0;
  const next = await findNextEvaluation(scope, meaning, found, watched && result === 'false');
  const unwatched = '; changes of targets cannot be watched (forbidden), so only the period counts';
  const expected = next.trueAt === undefined ? '' : `; expected to become true at ${formatTime(next.trueAt)}`;
  const message = `${describeOutcomes(outcomes, result)}${expected}${watched ? '' : unwatched}`;
  return reportUntil(
    scope,
    { basis: gathered.basis, until: next.at, why: next.why },
    {
      reason: UNTRUE[result],
      message,
      evaluations: outcomes,
      shown: await show(evaluating),
    },
  );
}

async function findNextEvaluation(
  { ctx, context, cleaner }: Scope,
  meaning: Meaning,
  found: readonly Found[],
  searchable: boolean,
): Promise<NextEvaluation> {
  const { maxSleep } = context.options;
  const monotonic = meaning.monotonic && searchable;
  // A search may take long. Yield to other work first.
  if (monotonic) await nextTurn();
  const next = computeNextLook(meaning.conditions, bindingsOf(found), ctx.now, {
    period: periodOf(meaning),
    monotonic,
    ...(maxSleep === undefined ? {} : { maxSleep }),
  });
  context.metrics.scheduled(next);
  if (next.why === 'not monotonic') {
    const note =
      'the conditions become true and false again: retry.monotonic does not hold, retry.period is used';
    ctx.event(cleaner, { type: 'Warning', reason: 'NotMonotonic', action: 'Evaluate', note });
  }
  return next;
}
