// The decision about one object: the decision of each policy that selects it, combined by combine.ts. Pure. Reconciles,
// the second decision after a conflict, and forecasts use the same function.

import { assertNever } from '@lapse/base/assertNever';
import type { Millis } from '@lapse/base/instant';
import { keyOf } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { computeExpiry, describeExpiry, type Finish, MAX_UNREPORTED_AHEAD, type Ttl } from '#expiry/expiry';
import type { Unjudged } from '#expiry/statusFinish';
import { readTtlAnnotations } from '#expiry/ttlAnnotation';
import { combine, type End, type PolicyDecision, type PolicyExpiry } from './combine.ts';
import type { AnyPolicy, CompiledPolicy, Moment } from './compile.ts';
import { computeFinish, computeOutcome } from './finish.ts';
import { objectName } from './keys.ts';
import { computeLeftAlone, respectOwnTtl } from './ownTtl.ts';

/** An object in the cache of one policy. The caches of different policies keep different fields. */
export interface Seen<P extends CompiledPolicy = CompiledPolicy> {
  readonly policy: P;
  readonly object: KubeObject;
}

export function decide<P extends CompiledPolicy>(seen: readonly Seen<P>[], moment: Moment): End<P> {
  return combine(
    seen.map(({ policy, object }) => ({ policy, expiry: decideForPolicy(policy, object, moment) })),
  );
}

export function decideForPolicy(policy: CompiledPolicy, object: KubeObject, moment: Moment): PolicyExpiry {
  const leftAlone = computeLeftAlone(policy, object);
  if (leftAlone !== undefined) return leftAlone;
  const expiry = decideAlone(policy, object, moment);
  const { ownTtl } = policy;
  return ownTtl === undefined ? expiry : respectOwnTtl(expiry, ownTtl.compute(object, moment), ownTtl.rule);
}

/** The decision of the policy alone. */
function decideAlone(policy: CompiledPolicy, object: KubeObject, moment: Moment): PolicyExpiry {
  const finish = computeFinish(policy, object);
  const ttl = computeTtl(policy, object, finish);
  if (ttl.kind === 'error') return ttl;
  // An opt-out and an unreadable annotation apply whether or not the object has finished.
  if (finish.kind === 'error')
    return ttl.kind === 'never' || ttl.kind === 'invalid'
      ? computeExpiry({ kind: 'unfinished' }, ttl, moment.now)
      : finish;
  return computeExpiry(finish, ttl, moment.now, moment.tolerance);
}

/** The TTL of the object's annotations if they apply; otherwise the TTL of the policy. */
function computeTtl(policy: CompiledPolicy, object: KubeObject, finish: Finish | Unjudged): Ttl | Unjudged {
  const own = readTtlAnnotations(object.metadata, finish);
  if (own !== undefined && (own.kind === 'never' || own.kind === 'invalid' || policy.allowOverrides))
    return own;
  const { ttl } = policy;
  if (ttl.kind === 'always') return { kind: 'after', length: ttl.length, rule: 'spec.ttl' };
  if (finish.kind !== 'finished' || policy.succeeded === undefined)
    // The outcome is only known after the finish. Until then the length does not matter.
    return { kind: 'after', length: 0 as Millis, rule: 'spec.ttlAfter' };
  const outcome = computeOutcome(policy.succeeded, object);
  if (typeof outcome !== 'boolean') return outcome;
  const length = outcome ? ttl.succeeded : ttl.failed;
  const rule = `spec.ttlAfter.${outcome ? 'succeeded' : 'failed'}`;
  return length === undefined ? { kind: 'none' } : { kind: 'after', length, rule };
}

/**
 * The state of a policy. Refused policies have no effect on other policies, nor have policies in DryRun or Paused. A
 * policy is pending while its targets are listed. It is blind if its targets cannot be read or are not served in its
 * version, or if its permissions cannot be reviewed. It is broken if its spec is invalid. While it is pending, blind or
 * broken, it is unknown which objects it keeps, so no other policy deletes objects that it may select.
 */
export type Standing = 'pending' | 'blind' | 'broken' | 'refused' | 'ready';

export type PolicyObstacle =
  | { readonly kind: 'pending'; readonly policy: AnyPolicy }
  /** A user or operator has to act. */
  | { readonly kind: 'lasting'; readonly note: string };

const LASTING: Partial<Record<Standing, string>> = {
  blind: 'which cannot read what it selects, or learn what it may do',
  broken: 'which cannot be understood',
};

/** Policies in these modes never keep an object that another policy deletes. */
const WITHOUT_EFFECT: ReadonlySet<string | undefined> = new Set(['DryRun', 'Paused']);

/**
 * Why a due object must not be deleted yet. `policies`: the policies for its kind that may select it. A policy that is
 * being deleted has no effect.
 */
export function computeObstacle(
  policies: readonly AnyPolicy[],
  standingOf: (policy: AnyPolicy) => Standing,
): PolicyObstacle | undefined {
  for (const policy of policies) {
    if (policy.metadata.deletionTimestamp !== undefined || WITHOUT_EFFECT.has(policy.spec?.mode)) continue;
    const standing = standingOf(policy);
    if (standing === 'pending') return { kind: 'pending', policy };
    const why = LASTING[standing];
    if (why === undefined) continue;
    return { kind: 'lasting', note: `waits for ${policy.kind} ${objectName(keyOf(policy))}, ${why}` };
  }
  return undefined;
}

function describePolicyExpiry(expiry: PolicyExpiry): string {
  if (expiry.kind === 'error') return `cannot be judged: ${expiry.note}`;
  return expiry.kind === 'leftAlone' ? `left alone: ${expiry.note}` : describeExpiry(expiry);
}

/** Why an object cannot be evaluated, for the status of one of its policies. Names the policy if it is another one. */
export function computeError(
  decisions: readonly PolicyDecision[],
  policy: CompiledPolicy,
): string | undefined {
  const errors = decisions.flatMap(({ policy: of, expiry }) =>
    expiry.kind === 'error' ? [{ of, note: expiry.note }] : [],
  );
  const own = errors.find(({ of }) => of === policy);
  if (own !== undefined) return own.note;
  const [other] = errors;
  return other === undefined ? undefined : `waits for ${other.of.name}, which cannot judge it: ${other.note}`;
}

/** The error of a policy without effect on the decision: a DryRun policy reports that it cannot evaluate the object. */
export function computeOwnError({ decisions }: End, policy: CompiledPolicy): string | undefined {
  if (policy.mode === 'Enforce') return undefined;
  const own = decisions.find(({ policy: of, expiry }) => of === policy && expiry.kind === 'error');
  return own?.expiry.kind === 'error' ? own.expiry.note : undefined;
}

/** The decisions of all policies in one line, for users. */
export const describeDecisions = (decisions: readonly PolicyDecision[]): string =>
  decisions.map(({ policy, expiry }) => `${titleOf(policy)}: ${describePolicyExpiry(expiry)}`).join('; ');

/** `TTLPolicy ci/runs`, or `TTLPolicy ci/runs (DryRun)`: shows that the policy has no effect. */
const titleOf = ({ name, mode }: CompiledPolicy): string => (mode === 'Enforce' ? name : `${name} (${mode})`);

/** What is counted about an object that is kept. With `reason`, an Event is emitted on the object, too. */
export interface Notice {
  readonly because: string;
  /** The CamelCase reason of the Event. */
  readonly reason?: string;
  readonly note: string;
}

export function computeNotice(end: End): Notice | undefined {
  if (end.kind === 'waiting') {
    if (end.ahead <= MAX_UNREPORTED_AHEAD) return undefined;
    const note = `its finish lies ${(end.ahead / 1000).toFixed(1)} s in the future: ${describeDecisions(end.decisions)}`;
    return { because: 'finish in the future', reason: 'FinishInFuture', note };
  }
  if (end.kind !== 'kept') return undefined;
  const { because, note = '' } = end;
  switch (because) {
    case 'unfinished':
    case 'being deleted':
      return undefined;
    case 'invalid TTL':
      return { because, reason: 'InvalidTTL', note };
    case 'finish time unknown':
      return { because, reason: 'FinishTimeUnknown', note };
    case 'opted out':
    case 'error':
      return { because, note };
    default:
      return assertNever(because);
  }
}
