// Runs when all conditions are true in the caches: reads everything from the API server once more and returns a
// decision, or the reason against one.

import { assertNever } from '@lapse/base/assertNever';
import { isDue, type Millis, seconds } from '@lapse/base/instant';
import { again, type Outcome, waitUntil } from '@lapse/runtime/outcome';
import { Cleaner } from '#api/cleaner';
import type { AuthorizedClient } from '#authors/authorizedClient';
import { outcomeOf } from '#deletion/deletion';
import type { ConditionResult } from './compute.ts';
import { type Decision, decide } from './decide.ts';
import { Deletion } from './deletion.ts';
import type { Gathered } from './gather.ts';
import { Progress } from './progress.ts';
import { describeDecision } from './record.ts';
import { memoKey, type Reporter } from './reporter.ts';
import { type Found, shownOf } from './snapshot.ts';
import type { Meaning } from './spec.ts';
import { type Report, readyOf, writeStatus } from './status.ts';
import { watchNothing } from './targets.ts';

type Of<K extends Decision['kind']> = Extract<Decision, { kind: K }>;

export interface Act {
  readonly reporter: Reporter;
  readonly meaning: Meaning;
  readonly client: AuthorizedClient;
  readonly gathered: Gathered;
  /** Called when a condition is not true for the objects read from the API server. */
  readonly notTrue: (conditionResult: ConditionResult, found: readonly Found[]) => Promise<Outcome>;
}

const HOLD: Millis = seconds(30);
const CLOCK_UNKNOWN =
  "nothing is deleted: the API server's clock is unknown, or further away than maxClockSkew allows";

/** The conditions are true for the cached objects. Checks them against the API server before a decision is made. */
export async function act(acting: Act): Promise<Outcome> {
  const { reporter, meaning, gathered, client } = acting;
  const { ctx, context, cleaner } = reporter;
  const clock = await context.guard.check();
  if (clock.kind !== 'good') return reporter.unavailable('ClockUnknown', CLOCK_UNKNOWN, HOLD);
  // The API server's clock may have been unknown when the reconcile began. In that case TTL and conditions were
  // evaluated too early.
  if (!isDue(ctx.now, context.guard.now())) return waitUntil(ctx.now, 'clock ahead');
  const { resolved } = gathered;
  const decision = await decide({ ctx, context, cleaner, meaning, resolved, client });
  switch (decision.kind) {
    case 'not':
      return notNow(acting, decision);
    case 'notTrue':
      return acting.notTrue(decision.conditionResult, decision.found);
    case 'nothing':
      return nothingToDelete(acting, decision);
    case 'delete':
      return carryOut(acting, decision);
    default:
      return assertNever(decision);
  }
}

function notNow(
  { reporter, meaning, gathered }: Act,
  { reason, message, until }: Of<'not'>,
): Promise<Outcome> {
  const { key } = gathered;
  if (until === undefined) return reporter.later(meaning, key, { reason, message });
  return reporter.until(until, reason, key, { reason, message });
}

const isDry = ({ reporter, meaning }: Act): boolean => meaning.dryRun || reporter.ctx.dryRun;

/** A release may be installed although Lapse cannot read its records. */
const releaseNote = ({ meaning: { release } }: Act): string =>
  release === undefined
    ? ''
    : `; release ${release} has no record in Secrets or ConfigMaps: if it was installed with Helm's SQL storage driver, run helm uninstall`;

async function nothingToDelete(acting: Act, decision: Of<'nothing'>): Promise<Outcome> {
  if (isDry(acting)) return wouldDelete(acting, 'nothing but the Cleaner', decision);
  const { ctx, context, cleaner, generation } = acting.reporter;
  const deletion = await context.expirer.expire(ctx, {
    kind: Cleaner,
    object: cleaner,
    since: ctx.now,
    because: 'cleaner',
    decide: ({ metadata }) =>
      metadata.generation === generation && metadata.deletionTimestamp === undefined
        ? { kind: 'delete', since: ctx.now }
        : { kind: 'keep', verdict: undefined },
    propagation: 'Background',
  });
  if (deletion.kind === 'deleted' || deletion.kind === 'terminating') {
    const note = `everything that was to be deleted is gone already; the Cleaner is deleted too${releaseNote(acting)}`;
    ctx.event(cleaner, { type: 'Normal', reason: 'NothingToDelete', action: 'Delete', note });
  }
  return outcomeOf(deletion, () => again('changed while deciding'));
}

/** Records the decision in status first, then deletes. */
async function carryOut(acting: Act, decision: Of<'delete'>): Promise<Outcome> {
  const { record, found, conditionResult } = decision;
  const what = describeDecision(record);
  if (isDry(acting)) return wouldDelete(acting, what, decision);
  const { ctx, context, cleaner } = acting.reporter;
  const signed = await context.records.sign(cleaner, record);
  const written = await writeStatus(ctx, cleaner, {
    reason: 'Deleting',
    message: `deleting ${what}`,
    shown: shownOf(found),
    evaluations: conditionResult.outcomes,
    deletion: signed,
  });
  if (written.kind === 'lost') return again('changed while deciding');
  context.metrics.decisions.inc();
  const note = `all conditions are true: deleting ${what}`;
  ctx.event(cleaner, { type: 'Normal', reason: 'Deleting', action: 'Delete', note });
  context.memos.delete(memoKey(ctx.key));
  watchNothing(ctx, context);
  const progress = new Progress(ctx, context, written.cleaner, signed);
  return new Deletion(ctx, context, progress).carryOut(acting.client);
}

function wouldDelete(
  { reporter, meaning, gathered }: Act,
  what: string,
  { found, conditionResult }: { readonly found: readonly Found[]; readonly conditionResult: ConditionResult },
): Promise<Outcome> {
  const { ctx, cleaner } = reporter;
  const message = `all conditions are true: would delete ${what} (dry run)`;
  if (readyOf(cleaner)?.message !== message)
    ctx.event(cleaner, { type: 'Normal', reason: 'WouldDelete', action: 'Delete', note: message });
  const report: Report = {
    reason: 'DryRun',
    message,
    shown: shownOf(found),
    evaluations: conditionResult.outcomes,
  };
  return reporter.later(meaning, gathered.key, report);
}
