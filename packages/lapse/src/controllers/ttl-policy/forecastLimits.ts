// Forecasts where policies stop at their limits: counts the forecast deletions of each policy in the order of their times,
// by the functions that the controller uses.

import { instant } from '@lapse/base/instant';
import type { LimitExceeded, LimitsStatus } from '#api/limits';
import { LIMITS, parseLimitsSection } from '#limits/configuration';
import {
  describeExceeded,
  describeFirstActivation,
  exceedsFirstActivation,
  reserve,
  ruleArgument,
} from '#limits/limit';
import { type DeletedStatement, type ForecastContext, nameOf, type Statement } from '../forecaster.ts';
import type { Assessed, ReadyPolicy } from './forecastPolicies.ts';
import { PolicyLimits, reviewLimits } from './policyLimits.ts';

/** A policy that may stop, and its forecast deletions. */
interface Counted {
  readonly assessed: Assessed;
  readonly ready: ReadyPolicy;
  readonly limits: PolicyLimits;
  readonly deletions: DeletedStatement[];
  selected: number;
}

/** Replaces the deletions that come after a policy has stopped. The other statements are passed on. */
export async function* applyLimits(
  forecastContext: ForecastContext,
  assessed: readonly Assessed[],
  statements: AsyncIterable<Statement>,
): AsyncGenerator<Statement> {
  const counted = countedPolicies(forecastContext, assessed);
  /** Objects that policies in DryRun or Paused would delete now. */
  const due = new Map<string, number>();
  for await (const statement of statements) {
    countSelected(counted, statement);
    if (isHeldDue(statement, forecastContext)) due.set(statement.rule, (due.get(statement.rule) ?? 0) + 1);
    const acting = statement.kind === 'deleted' ? counted.get(statement.rule) : undefined;
    if (statement.kind === 'deleted' && acting !== undefined) acting.deletions.push(statement);
    else yield statement;
  }
  for (const one of counted.values()) yield* forecastStop(forecastContext, one);
  for (const one of assessed) yield* forecastActivation(forecastContext, one, due.get(one.rule) ?? 0);
}

function countSelected(counted: ReadonlyMap<string, Counted>, { policies, rule }: Statement): void {
  for (const name of policies ?? [rule]) {
    const one = counted.get(name);
    if (one !== undefined) one.selected++;
  }
}

const isHeldDue = (statement: Statement, { now }: ForecastContext): boolean =>
  statement.kind === 'held' && statement.until !== undefined && statement.until <= now;

/** A policy in DryRun or Paused that would be stopped before its first deletion. */
function* forecastActivation(
  { configuration }: ForecastContext,
  { of, policy, rule, ready }: Assessed,
  due: number,
): Generator<Statement> {
  const { firstActivation } = parseLimitsSection(configuration[LIMITS]);
  if (ready?.mode === 'Enforce' || !exceedsFirstActivation(due, firstActivation)) return;
  const because = `in mode Enforce the policy would be stopped at its limit: ${describeFirstActivation(due, firstActivation)}`;
  yield { kind: 'held', object: nameOf(of, policy), rule, because, reason: 'LimitExceeded' };
}

/** Policies without limits that delete already are not counted, so that their statements need not be collected. */
function countedPolicies(
  { configuration }: ForecastContext,
  assessed: readonly Assessed[],
): Map<string, Counted> {
  const global = parseLimitsSection(configuration[LIMITS]);
  const counted = new Map<string, Counted>();
  for (const one of assessed) {
    const { ready, policy, rule } = one;
    if (ready?.mode !== 'Enforce') continue;
    const limits = new PolicyLimits(policy, global);
    const isStarting = global.firstActivation > 0 && !limits.isActivated;
    if (limits.limitsOf(ready).length > 0 || isStarting || policy.status?.limits !== undefined)
      counted.set(rule, { assessed: one, ready, limits, deletions: [], selected: 0 });
  }
  return counted;
}

function* forecastStop(forecastContext: ForecastContext, counted: Counted): Generator<Statement> {
  const { now } = forecastContext;
  const { assessed, ready, limits, deletions } = counted;
  const generation = assessed.policy.metadata.generation ?? 0;
  deletions.sort((a, b) => a.at - b.at);
  let state = reviewNow(forecastContext, counted);
  const selected = Math.max(counted.selected, assessed.policy.status?.matched ?? 0);
  for (const [i, statement] of deletions.entries()) {
    const at = instant(Math.max(statement.at, now));
    const all = limits.limitsOf(ready);
    // One deletion at a time: the controller reserves blocks, which do not change where it stops.
    if (all.length > 0 || state.approved !== undefined || state.exceeded !== undefined)
      state = reserve(state, { limits: all, now: at, generation, selected: selected - i, due: 1 }).state;
    if (state.exceeded !== undefined) {
      const due = deletions.filter((other, j) => j >= i && other.at <= at).length;
      yield* stopped(counted, state.exceeded, { from: i, due });
      return;
    }
    yield statement;
  }
  // Stopped, with nothing left to delete.
  if (state.exceeded !== undefined)
    yield* stopped(counted, state.exceeded, { from: deletions.length, due: 0 });
}

/** The first activation, and an approval that the controller has not read yet. */
function reviewNow({ now, actAs }: ForecastContext, { assessed, limits, deletions }: Counted): LimitsStatus {
  const { policy } = assessed;
  const due = deletions.filter(({ at }) => at <= now).length;
  const isCurrent = policy.status?.observedGeneration === policy.metadata.generation;
  return reviewLimits(limits.gate.state, {
    policy,
    mode: 'Enforce',
    // An explanation reads one object only: the status counts all of them.
    counts: { due: isCurrent ? Math.max(due, policy.status?.due ?? 0) : due },
    now,
    isActivated: limits.isActivated,
    firstActivation: limits.configuration.firstActivation,
    isRecorded: actAs === 'author',
  }).limits;
}

function* stopped(
  { assessed: { of, policy, rule }, deletions }: Counted,
  exceeded: LimitExceeded,
  { from, due }: { readonly from: number; readonly due: number },
): Generator<Statement> {
  const isNow = policy.status?.limits?.exceeded !== undefined;
  const about = describeExceeded(
    exceeded,
    Math.max(due, from === 0 ? exceeded.due : 0),
    ruleArgument(of.kind, policy.metadata),
  );
  const because = isNow ? `the policy is ${about}` : `the policy will be ${about}`;
  yield { kind: 'held', object: nameOf(of, policy), rule, because, reason: 'LimitExceeded' };
  for (const { kind: _, at: __, propagation: ___, because: why, ...statement } of deletions.slice(from))
    yield { ...statement, kind: 'held', because: `${because}; ${why}`, reason: 'LimitExceeded' };
}
