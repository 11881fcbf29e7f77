// Continues with a decision that was found in status: checks that Lapse wrote it, that it is not outdated and that the
// actor still has the rights, then carries it out. A decision that fails a check is discarded or reported.

import { plus, seconds } from '@lapse/base/instant';
import { again, type Outcome, waitUntil } from '@lapse/runtime/outcome';
import type { DeletionRecord } from '#api/cleaner';
import type { Scope } from './context.ts';
import { DEFAULT_RETRY, Deletion } from './deletion.ts';
import type { DiscardedBecause } from './metrics.ts';
import { Progress } from './progress.ts';
import { computeOutdated, describeDecision, isBelievable } from './record.ts';
import { reportUnavailable } from './report.ts';
import { accountOf, refusalOfRecord } from './rights.ts';
import { writeStatus } from './status.ts';

const HOLD = seconds(30);
const CLOCK_UNKNOWN =
  "nothing more is deleted: the API server's clock is unknown, or further away than maxClockSkew allows";

/** Why a decision is discarded. The Cleaner is evaluated again. */
interface Discarded {
  readonly because: DiscardedBecause;
  readonly type: 'Normal' | 'Warning';
  readonly note: string;
}

export async function resume(scope: Scope, record: DeletionRecord): Promise<Outcome> {
  const { ctx, context, cleaner } = scope;
  if (ctx.dryRun) return waitUntil(plus(ctx.now, DEFAULT_RETRY), 'dry run');
  const untrusted = await findUntrusted(scope, record);
  if (untrusted !== undefined) return discard(scope, untrusted);
  if ((await context.guard.check()).kind !== 'good')
    return reportUnavailable(scope, 'ClockUnknown', CLOCK_UNKNOWN, HOLD);
  const progress = new Progress(ctx, context, cleaner, record);
  const deletion = new Deletion(ctx, context, progress);
  const actor = await context.actors.ofRecord(cleaner, record.serviceAccountName, ctx.signal);
  if (actor.kind === 'noActor') return deletion.stuck(actor.reason, actor.why);
  const { client } = actor;
  if (client.author !== record.author)
    return discard(scope, discardedOf(record, 'author changed', 'the Cleaner has another author now'));
  progress.client = client;
  const outdated = computeOutdated(record, cleaner, ctx.now);
  if (outdated !== undefined && !(await progress.hasBegun()))
    return discard(scope, discardedOf(record, 'outdated', outdated));
  const refusal = await refusalOfRecord(client, record, ctx.key.namespace ?? '');
  return refusal === undefined ? deletion.carryOut(client) : deletion.stuck('Forbidden', refusal);
}

/** Returns why the record cannot be a decision of Lapse about this Cleaner, or undefined. */
async function findUntrusted(
  { ctx: { log }, context: { actors, records }, cleaner }: Scope,
  record: DeletionRecord,
): Promise<Discarded | undefined> {
  if (await records.isAuthentic(cleaner, record))
    return isBelievable(record, cleaner, accountOf(cleaner, actors.defaultAccount))
      ? undefined
      : discardedOf(record, 'impossible', 'this Cleaner cannot have led to it');
  log.warn({ uid: cleaner.metadata.uid }, 'discarded a deletion record that is not authenticated');
  // The message repeats nothing from the record: Lapse did not write it.
  const note =
    'status.deletion was discarded without deleting anything: Lapse did not write it, or its author key was replaced; check who may patch cleaners/status';
  return { because: 'unauthenticated', type: 'Warning', note };
}

const discardedOf = (record: DeletionRecord, because: DiscardedBecause, why: string): Discarded => ({
  because,
  type: 'Normal',
  note: `the decision to delete ${describeDecision(record)} was given up: ${why}`,
});

async function discard(
  { ctx, context, cleaner }: Scope,
  { because, type, note }: Discarded,
): Promise<Outcome> {
  context.metrics.discarded(because);
  ctx.event(cleaner, { type, reason: 'DecisionDiscarded', action: 'Delete', note });
  await writeStatus(ctx, cleaner, { reason: 'WaitingForConditions', message: note });
  return again('decision given up');
}
