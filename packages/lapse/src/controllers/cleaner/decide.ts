// Turns "all conditions are true in the caches" into a recorded decision: reads everything again from the API server
// with the rights that will be used, evaluates again, and only then records the decision.

import { assertNever } from '@lapse/base/assertNever';
import type { Instant } from '@lapse/base/instant';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { Cleaner, DeletionRecord } from '#api/cleaner';
import type { Need } from '#authors/accessReview';
import { type Acting, authorOf } from './actor.ts';
import type { AuthorizedClient } from './authorizedClient.ts';
import { type ConditionResult, evaluate } from './compute.ts';
import type { Context } from './context.ts';
import { planRelease } from './helm.ts';
import { MOST_REVISIONS, readStorage } from './helmStorage.ts';
import { findUnrecorded, listWith } from './helmUnrecorded.ts';
import { needsToDelete, needsToSee, refusalOfHelm } from './needs.ts';
import { buildRecord, countDeletions, type DecisionParts, MOST_DELETIONS, recordTargets } from './record.ts';
import { bindingsOf, boundCount, type Found, MOST_BOUND, missingOf, type Resolved } from './snapshot.ts';
import type { Meaning } from './spec.ts';
import type { Reason } from './status.ts';
import { fromServer } from './targets.ts';

export type Decision =
  /** No decision: the reason to report and, if known, when to evaluate again. */
  | { readonly kind: 'not'; readonly reason: Reason; readonly message: string; readonly until?: Instant }
  /** The cache was stale: at least one condition is not true for the objects on the API server. */
  | { readonly kind: 'notTrue'; readonly conditionResult: ConditionResult; readonly found: readonly Found[] }
  | { readonly kind: 'nothing'; readonly found: readonly Found[]; readonly conditionResult: ConditionResult }
  | {
      readonly kind: 'delete';
      readonly record: DeletionRecord;
      readonly found: readonly Found[];
      readonly conditionResult: ConditionResult;
    };

export interface Deciding {
  readonly ctx: ReconcileContext;
  readonly context: Context;
  readonly cleaner: Cleaner;
  readonly meaning: Meaning;
  readonly resolved: readonly Resolved[];
  readonly actor: Acting;
}

const not = (reason: Reason, message: string, until?: Instant): Decision => ({
  kind: 'not',
  reason,
  message,
  ...(until === undefined ? {} : { until }),
});

export function authorizedClientOf(
  deciding: Pick<Deciding, 'ctx' | 'context' | 'cleaner' | 'actor'>,
): AuthorizedClient {
  const { ctx, context, cleaner, actor } = deciding;
  const { namespace = '' } = cleaner.metadata;
  return {
    client: actor.client,
    namespace,
    signal: ctx.signal,
    refusalToList: (kind) => context.actors.refusalToList(actor, kind, namespace),
  };
}

export async function decide(deciding: Deciding): Promise<Decision> {
  const forbidden = await reviewRights(deciding);
  if (forbidden !== undefined) return forbidden;
  const found = await readTargets(deciding);
  if (!Array.isArray(found)) return found;
  const { meaning, ctx, cleaner } = deciding;
  const conditionResult = await evaluate(meaning.conditions, bindingsOf(found), ctx.now);
  if (conditionResult.result !== 'true') return { kind: 'notTrue', conditionResult, found };
  const release = await readRelease(deciding, found);
  if (release.kind === 'not') return release;
  const parts: DecisionParts = {
    targets: recordTargets(found),
    ...(release.kind === 'absent' ? {} : { release: release.release }),
    ...decidedFor(deciding.actor),
  };
  const count = countDeletions(parts);
  if (count > MOST_DELETIONS)
    return not(
      'BudgetExceeded',
      `${count} deletions are more than the ${MOST_DELETIONS} that one decision may lead to`,
    );
  if (count === 0) return { kind: 'nothing', found, conditionResult };
  return { kind: 'delete', record: buildRecord(cleaner, parts, ctx.now), found, conditionResult };
}

/** The account or author in the record. */
function decidedFor(actor: Acting): Pick<DecisionParts, 'account' | 'author'> {
  const { account } = actor;
  const author = authorOf(actor);
  return {
    ...(account === undefined ? {} : { account }),
    ...(author === undefined ? {} : { author }),
  };
}

/** Without cached reviews: rights may have been revoked since the Cleaner was created. */
async function reviewRights(deciding: Deciding): Promise<Decision | undefined> {
  const { context, cleaner, meaning, resolved, actor } = deciding;
  const namespace = cleaner.metadata.namespace ?? '';
  const needs = [
    ...resolved.flatMap(({ target, kind }) => needsToSee(target, kind, namespace)),
    ...resolved.flatMap(({ target, kind }) => needsToDelete(target, kind, namespace)),
  ];
  const refusalOf = (some: readonly Need[]) => context.actors.refusal(actor, some, true);
  const refusal =
    (await refusalOf(needs)) ??
    (meaning.release === undefined ? undefined : await refusalOfHelm(namespace, refusalOf));
  return refusal === undefined ? undefined : not('Forbidden', refusal);
}

/** All objects that conditions read or that are to be deleted, read from the API server. */
async function readTargets(deciding: Deciding): Promise<Found[] | Decision> {
  const { resolved, context } = deciding;
  const found: Found[] = [];
  for (const one of resolved) {
    if (!one.target.included && !one.target.delete) continue;
    if (boundCount(found) > MOST_BOUND) break;
    const read = await fromServer(authorizedClientOf(deciding), one, context.options.bindSecretData);
    if (read.kind === 'forbidden') return not('Forbidden', read.why);
    if (read.kind === 'read') found.push(read.value);
    else if (one.target.included) return not('KindNotServed', `${one.kind.kind} is not served any more`);
  }
  const [missing] = missingOf(found);
  if (missing !== undefined) return not('TargetNotFound', describeMissing([missing]));
  if (boundCount(found) > MOST_BOUND) return not('BudgetExceeded', TOO_MANY);
  return found;
}

export const TOO_MANY = `targets are more than the ${MOST_BOUND} objects that conditions may look at`;

export const describeMissing = (missing: readonly Found[]): string =>
  missing
    .map(({ target, kind }) => `${kind.kind} ${target.reference.name} (${target.name}) does not exist`)
    .join('; ');

type ReleaseRead =
  | { readonly kind: 'absent' }
  | { readonly kind: 'release'; readonly release: NonNullable<DecisionParts['release']> }
  | Extract<Decision, { kind: 'not' }>;

async function readRelease(deciding: Deciding, found: readonly Found[]): Promise<ReleaseRead> {
  const { meaning, cleaner, ctx } = deciding;
  const name = meaning.release;
  if (name === undefined) return { kind: 'absent' };
  const authorized = authorizedClientOf(deciding);
  const read = await readStorage(authorized, name);
  if (read.kind === 'forbidden') return not('Forbidden', read.why) as ReleaseRead;
  if (read.kind === 'notServed') return { kind: 'absent' };
  if (read.value.length > MOST_REVISIONS)
    return not('BudgetExceeded', `the release ${name} has too many revisions`) as ReleaseRead;
  const self = cleaner.metadata.name ?? '';
  const release = { name, namespace: authorized.namespace };
  const plan = await planRelease(read.value, release, self, ctx.now);
  switch (plan.kind) {
    case 'absent': {
      const unrecorded = await findUnrecorded(release, found, listWith(authorized));
      if (unrecorded === undefined) return { kind: 'absent' };
      return not('HelmDriverNotSupported', unrecorded) as ReleaseRead;
    }
    case 'busy':
      return not(
        'HelmOperationInProgress',
        `the release ${name} is ${plan.status}`,
        plan.until,
      ) as ReleaseRead;
    case 'corrupt':
      return not('HelmUninstallFailed', `the release ${name} cannot be read: ${plan.why}`) as ReleaseRead;
    case 'uninstall':
      return { kind: 'release', release: { name, steps: plan.steps } };
    default:
      return assertNever(plan);
  }
}
