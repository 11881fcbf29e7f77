// Applies a decision that was confirmed by the API server: records it in status and carries it out, or reports a dry run.

import { again, type Outcome } from '@lapse/runtime/outcome';
import { Cleaner } from '#api/cleaner';
import type { AuthorizedClient } from '#authors/authorizedClient';
import { outcomeOf } from '#deletion/deletion';
import type { ConditionResult } from './conditions.ts';
import { generationOf, type Scope } from './context.ts';
import { computeGate, type Decision } from './decide.ts';
import { Deletion } from './deletion.ts';
import { Progress } from './progress.ts';
import { describeDecision } from './record.ts';
import { reportForPeriod } from './report.ts';
import type { Meaning } from './spec.ts';
import { readyOf, writeStatus } from './status.ts';
import { type Found, shownOf } from './targets.ts';
import { watchNothing } from './watches.ts';

/** What the decision was made on. */
export interface Applying {
  readonly scope: Scope;
  readonly meaning: Meaning;
  readonly client: AuthorizedClient;
  readonly basis: string;
  readonly found: readonly Found[];
  readonly conditionResult: ConditionResult;
}

export function apply(decision: Exclude<Decision, { kind: 'not' }>, applying: Applying): Promise<Outcome> {
  const isDry = applying.meaning.dryRun || applying.scope.ctx.dryRun;
  if (decision.kind === 'nothing')
    return isDry ? reportDryRun(applying, 'nothing but the Cleaner') : deleteCleaner(applying);
  return isDry
    ? reportDryRun(applying, describeDecision(decision.record))
    : recordAndDelete(applying, decision);
}

/** A release may be installed although Lapse cannot read its records. */
const releaseNote = ({ release }: Meaning): string =>
  release === undefined
    ? ''
    : `; release ${release} has no record in Secrets or ConfigMaps: if it was installed with Helm's SQL storage driver, run helm uninstall`;

/** Everything else is already deleted. */
async function deleteCleaner({ scope, meaning }: Applying): Promise<Outcome> {
  const { ctx, context, cleaner } = scope;
  const generation = generationOf(cleaner);
  const deletion = await context.expirer.expire(ctx, {
    kind: Cleaner,
    object: cleaner,
    since: ctx.now,
    because: 'cleaner',
    decide: (live) =>
      live.metadata.generation === generation &&
      live.metadata.deletionTimestamp === undefined &&
      computeGate(live, meaning.ttl, ctx.now).kind === 'open'
        ? { kind: 'delete', since: ctx.now }
        : { kind: 'keep', because: undefined },
    propagation: 'Background',
  });
  if (deletion.kind === 'deleted' || deletion.kind === 'terminating') {
    const note = `everything that was to be deleted is gone already; the Cleaner is deleted too${releaseNote(meaning)}`;
    ctx.event(cleaner, { type: 'Normal', reason: 'NothingToDelete', action: 'Delete', note });
  }
  return outcomeOf(deletion, () => again('changed while deciding'));
}

/** Records the decision in status first, then deletes. */
async function recordAndDelete(
  { scope, client, found, conditionResult }: Applying,
  { record, limits }: Extract<Decision, { kind: 'delete' }>,
): Promise<Outcome> {
  const { ctx, context, cleaner } = scope;
  const what = describeDecision(record);
  const signed = await context.records.sign(cleaner, record);
  const written = await writeStatus(ctx, cleaner, {
    reason: 'Deleting',
    message: `deleting ${what}`,
    shown: shownOf(found),
    evaluations: conditionResult.outcomes,
    deletion: signed,
    ...(limits === undefined ? {} : { limits }),
  });
  if (written.kind === 'lost') return again('changed while deciding');
  context.metrics.decisions.inc();
  const note = `all conditions are true: deleting ${what}`;
  ctx.event(cleaner, { type: 'Normal', reason: 'Deleting', action: 'Delete', note });
  context.memos.delete(ctx.key);
  watchNothing(ctx, context);
  const progress = new Progress(ctx, context, written.cleaner, signed);
  return new Deletion(ctx, context, progress).carryOut(client);
}

function reportDryRun(
  { scope, meaning, basis, found, conditionResult }: Applying,
  what: string,
): Promise<Outcome> {
  const { ctx, cleaner } = scope;
  const message = `all conditions are true: would delete ${what} (dry run)`;
  if (readyOf(cleaner)?.message !== message)
    ctx.event(cleaner, { type: 'Normal', reason: 'WouldDelete', action: 'Delete', note: message });
  return reportForPeriod(scope, meaning, basis, {
    reason: 'DryRun',
    message,
    shown: shownOf(found),
    evaluations: conditionResult.outcomes,
  });
}
