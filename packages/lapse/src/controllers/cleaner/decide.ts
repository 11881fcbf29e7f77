// Turns "all conditions are true in the caches" into a recorded decision: reads everything again from the API server
// with the rights that will be used, evaluates again, and only then records the decision.

import { assertNever } from '@lapse/base/assertNever';
import type { Instant } from '@lapse/base/instant';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { Cleaner, type DeletionRecord } from '#api/cleaner';
import type { AuthorizedClient } from '#authors/authorizedClient';
import { readPlan } from '#helm/readPlan';
import { type ConditionResult, evaluate } from './compute.ts';
import type { Context } from './context.ts';
import { buildRecord, countDeletions, type DecisionParts, MOST_DELETIONS, recordTargets } from './record.ts';
import { refusalToDecide } from './rights.ts';
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
  readonly client: AuthorizedClient;
}

const not = (reason: Reason, message: string, until?: Instant): Extract<Decision, { kind: 'not' }> => ({
  kind: 'not',
  reason,
  message,
  ...(until === undefined ? {} : { until }),
});

export async function decide(deciding: Deciding): Promise<Decision> {
  const { meaning, ctx, cleaner, client, resolved } = deciding;
  const refusal = await refusalToDecide(client, meaning, resolved, ctx.key.namespace ?? '');
  if (refusal !== undefined) return not('Forbidden', refusal);
  const found = await readTargets(deciding);
  if (!Array.isArray(found)) return found;
  const conditionResult = await evaluate(meaning.conditions, bindingsOf(found), ctx.now);
  if (conditionResult.result !== 'true') return { kind: 'notTrue', conditionResult, found };
  const release = await readRelease(deciding, found);
  if (release.kind === 'not') return release;
  const parts: DecisionParts = {
    targets: recordTargets(found),
    ...(release.kind === 'absent' ? {} : { release: release.release }),
    ...(client.account === undefined ? {} : { account: client.account }),
    ...(client.author === undefined ? {} : { author: client.author }),
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

/** All objects that conditions read or that are to be deleted, read from the API server. */
async function readTargets(deciding: Deciding): Promise<Found[] | Decision> {
  const { resolved, context, client, ctx } = deciding;
  const found: Found[] = [];
  for (const one of resolved) {
    if (!one.target.included && !one.target.delete) continue;
    if (boundCount(found) > MOST_BOUND) break;
    const read = await fromServer(client, one, ctx.key.namespace ?? '', context.options.bindSecretData);
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

async function readRelease(
  { meaning, cleaner, ctx, client }: Deciding,
  found: readonly Found[],
): Promise<ReleaseRead> {
  const name = meaning.release;
  if (name === undefined) return { kind: 'absent' };
  const { namespace = '', name: self = '' } = cleaner.metadata;
  const plan = await readPlan(
    client,
    { name, namespace },
    { except: { ...Cleaner, name: self }, now: ctx.now, targets: found },
  );
  switch (plan.kind) {
    case 'absent':
      return plan;
    case 'forbidden':
      return not('Forbidden', plan.why);
    case 'tooMany':
      return not('BudgetExceeded', `the release ${name} has too many revisions`);
    case 'unrecorded':
      return not('HelmDriverNotSupported', plan.why);
    case 'busy':
      return not('HelmOperationInProgress', `the release ${name} is ${plan.status}`, plan.until);
    case 'corrupt':
      return not('HelmUninstallFailed', `the release ${name} cannot be read: ${plan.why}`);
    case 'uninstall':
      return { kind: 'release', release: { name, steps: plan.steps } };
    default:
      return assertNever(plan);
  }
}
