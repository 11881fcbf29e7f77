// The reconcile of one Cleaner: checks its TTL, evaluates its conditions, and acts on the result. Decisions are in
// compute.ts and decide.ts; act.ts and deletion.ts carry them out.

import { assertNever } from '@lapse/base/assertNever';
import { formatTime, type Instant, isDue, type Millis, minutes, plus, seconds } from '@lapse/base/instant';
import { nextTurn } from '@lapse/base/turn';
import { ApiError } from '@lapse/kube/api/status';
import { TransportError } from '@lapse/kube/client/transport';
import { type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { Cleaner } from '#api/cleaner';
import { type AuthorizedClient, describeError } from '#authors/authorizedClient';
import { act } from './act.ts';
import {
  type ConditionResult,
  computeGate,
  computeNextLook,
  describeOutcomes,
  evaluate,
  type NextEvaluation,
} from './compute.ts';
import type { Context } from './context.ts';
import { describeMissing, TOO_MANY } from './decide.ts';
import { type Gathered, gather } from './gather.ts';
import { waitOf } from './projection.ts';
import { memoKey, periodOf, Reporter } from './reporter.ts';
import { resume } from './resume.ts';
import { needsToSee } from './rights.ts';
import {
  bindingsOf,
  boundCount,
  type Found,
  MOST_BOUND,
  missingOf,
  type Resolved,
  type Shown,
  shownOf,
} from './snapshot.ts';
import { type Meaning, understand } from './spec.ts';
import type { Reason } from './status.ts';
import { fromServer, watchNothing } from './targets.ts';

/** Delay with which discovery follows a new CRD. */
const SOON: Millis = seconds(6);

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
    context.memos.delete(memoKey(ctx.key));
    context.holds.delete(memoKey(ctx.key));
    context.done.delete(memoKey(ctx.key));
    watchNothing(ctx, context);
    return settled();
  }
  const reporter = new Reporter(ctx, context, cleaner);
  return reporter.held() ?? visibly(reporter, () => look(reporter));
}

/** Number of failures that are not reported in status. The queue retries these within a second. */
const QUIET_FAILURES = 2;
const RETRY: Millis = minutes(1);

/** Reports requests that keep failing in status and retries every minute. */
async function visibly(reporter: Reporter, work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    const isAnswer = error instanceof ApiError || error instanceof TransportError;
    if (!isAnswer || reporter.ctx.failures < QUIET_FAILURES) throw error;
    reporter.ctx.log.warn({ error: error.message }, 'cannot go on');
    return reporter.unavailable(
      'Unavailable',
      `the API server cannot be used: ${describeError(error)}`,
      RETRY,
    );
  }
}

function look(reporter: Reporter): Promise<Outcome> {
  const { ctx, context, cleaner } = reporter;
  const record = cleaner.status?.deletion;
  if (record !== undefined) {
    watchNothing(ctx, context);
    return resume(ctx, context, cleaner, record);
  }
  const understood = understand(cleaner);
  if (understood.kind === 'invalid')
    return invalid(reporter, understood.problems.map((one) => `${one.field}: ${one.message}`).join('; '));
  const gate = computeGate(cleaner, understood.meaning.ttl, ctx.now);
  if (gate.kind === 'open') return evaluateTargets(reporter, understood.meaning);
  return notExpired(reporter, gate.until);
}

function invalid(reporter: Reporter, message: string): Promise<Outcome> {
  watchNothing(reporter.ctx, reporter.context);
  return reporter.report({ reason: 'InvalidSpec', message }, settled());
}

function notExpired(reporter: Reporter, until: Instant): Promise<Outcome> {
  watchNothing(reporter.ctx, reporter.context);
  const message = 'nothing is looked at before the TTL is over';
  return reporter.report({ reason: 'NotExpired', message, next: until }, waitUntil(until, 'ttl'));
}

async function evaluateTargets(reporter: Reporter, meaning: Meaning): Promise<Outcome> {
  const { ctx, context, cleaner } = reporter;
  const actor = await context.actors.of(cleaner, ctx.signal);
  if (actor.kind === 'noActor') {
    watchNothing(ctx, context);
    return reporter.later(meaning, `${actor.reason};${reporter.generation}`, {
      reason: actor.reason,
      message: actor.why,
    });
  }
  const gathered = await gather(ctx, context, cleaner, meaning);
  switch (gathered.kind) {
    case 'refused':
      return invalid(reporter, gathered.why);
    case 'unsynced':
      // A source that becomes synced, or fails, also triggers a reconcile.
      if (gathered.why === undefined) return waitUntil(plus(ctx.now, RETRY), 'unsynced');
      return reporter.unavailable('Unavailable', gathered.why, RETRY);
    case 'unserved':
      return reporter.until(
        plus(ctx.now, gathered.soon ? SOON : periodOf(meaning)),
        'KindNotServed',
        gathered.key,
        { reason: 'KindNotServed', message: gathered.why },
      );
    case 'gathered': {
      const unchanged = reporter.unchanged(gathered.key);
      if (unchanged !== undefined) return unchanged;
      return judge({
        reporter,
        meaning,
        client: actor.client,
        gathered: await gathered.complete(actor.client),
      });
    }
    default:
      return assertNever(gathered);
  }
}

interface Judging {
  readonly reporter: Reporter;
  readonly meaning: Meaning;
  readonly client: AuthorizedClient;
  readonly gathered: Gathered;
}

/** Evaluates the conditions on the gathered objects. */
async function judge(judging: Judging): Promise<Outcome> {
  const { reporter, meaning, gathered } = judging;
  const { found, key } = gathered;
  const later = (reason: Reason, message: string, shown?: Shown) =>
    reporter.later(meaning, key, { reason, message, ...(shown === undefined ? {} : { shown }) });
  const forbidden = gathered.forbidden ?? (await reviewRights(judging));
  if (forbidden !== undefined) return later('Forbidden', forbidden);
  const missing = missingOf(found);
  if (missing.length > 0) return later('TargetNotFound', describeMissing(missing), await show(judging));
  if (boundCount(found) > MOST_BOUND) return later('BudgetExceeded', TOO_MANY, await show(judging));
  const conditionResult = await evaluate(meaning.conditions, bindingsOf(found), reporter.ctx.now);
  const notTrue = (untrue: ConditionResult, seen: readonly Found[]) => lookAgain(judging, untrue, seen);
  reporter.context.metrics.evaluated(conditionResult.result);
  return conditionResult.result === 'true' ? act({ ...judging, notTrue }) : notTrue(conditionResult, found);
}

/** Returns why the actor may not read what the conditions need, or undefined. */
function reviewRights({ reporter, client, gathered }: Judging): Promise<string | undefined> {
  const namespace = reporter.ctx.key.namespace ?? '';
  return client.refusal(needsToSee(gathered.resolved, namespace), false);
}

/** The part of the status that shows targets. Read after every decision, so that it cannot delay or fail one. */
const show = async (judging: Judging): Promise<Shown> =>
  shownOf([...judging.gathered.found, ...(await readOthers(judging))]);

/**
 * Targets that conditions do not read. Objects that the actor may not read, or that cannot be read now, are not
 * shown.
 */
async function readOthers({ reporter, client, gathered }: Judging): Promise<Found[]> {
  const namespace = reporter.ctx.key.namespace ?? '';
  const read = async (one: Resolved): Promise<Found[]> => {
    const { name } = one.target.reference;
    const key = { namespace, ...(name ? { name } : {}) };
    if ((await client.refusalTo(name ? 'get' : 'list', one.kind, key)) !== undefined) return [];
    const found = await fromServer(client, one, namespace, false);
    return found.kind === 'read' ? [found.value] : [];
  };
  const others = gathered.resolved.filter(({ target }) => !target.included);
  const answers = await Promise.allSettled(others.map(read));
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}

const UNTRUE: Readonly<Record<ConditionResult['result'], Reason>> = {
  true: 'WaitingForConditions',
  false: 'WaitingForConditions',
  error: 'ConditionError',
  budget: 'BudgetExceeded',
};

async function lookAgain(
  judging: Judging,
  { result, outcomes }: ConditionResult,
  found: readonly Found[],
): Promise<Outcome> {
  const { reporter, meaning, gathered } = judging;
  const { key, watched } = gathered;
  const next = await findNextEvaluation(reporter, meaning, found, watched && result === 'false');
  const unwatched = '; changes of targets cannot be watched (forbidden), so only the period counts';
  const expected = next.trueAt === undefined ? '' : `; expected to become true at ${formatTime(next.trueAt)}`;
  const message = `${describeOutcomes(outcomes, result)}${expected}${watched ? '' : unwatched}`;
  return reporter.until(next.at, next.why, key, {
    reason: UNTRUE[result],
    message,
    evaluations: outcomes,
    shown: await show(judging),
  });
}

async function findNextEvaluation(
  { ctx, context, cleaner }: Reporter,
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
