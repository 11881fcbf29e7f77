// Every decision about one object: what each policy that selects it says, combined by combine.ts. Pure: the same function
// serves reconciles, the second decision after a conflict, and forecasts.

import { assertNever } from '@lapse/base/assertNever';
import { type Millis, plus } from '@lapse/base/instant';
import { keyOf } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { AHEAD_WORTH_TELLING, computeExpiry, describeExpiry, type Finish, type Ttl } from '#deletion/expiry';
import { readTtlAnnotation, unreadable } from '#deletion/ttlAnnotation';
import { combine, type End, type Opinion, type Verdict } from './combine.ts';
import type { AnyPolicy, CompiledPolicy, Moment } from './compile.ts';
import { computeFinish, computeOutcome, parseInstant, type Unjudged } from './finish.ts';
import { objectName } from './keys.ts';
import { computeLeftAlone, respectOwnTtl } from './ownTtl.ts';

/** The end of an object, written on it; counts under policies with allowOverrides. */
export const EXPIRES_ANNOTATION = 'lapse.dev/expires-at';

/** An object as one policy sees it: of different policies different fields are kept. */
export interface Seen<P extends CompiledPolicy = CompiledPolicy> {
  readonly policy: P;
  readonly object: KubeObject;
}

export function computeEnd<P extends CompiledPolicy>(seen: readonly Seen<P>[], moment: Moment): End<P> {
  return combine(
    seen.map(({ policy, object }) => ({ policy, verdict: computeVerdict(policy, object, moment) })),
  );
}

export function computeVerdict(policy: CompiledPolicy, object: KubeObject, moment: Moment): Verdict {
  const leftAlone = computeLeftAlone(policy, object);
  if (leftAlone !== undefined) return leftAlone;
  const verdict = computeOwnVerdict(policy, object, moment);
  const { ownTtl } = policy;
  return ownTtl === undefined ? verdict : respectOwnTtl(verdict, ownTtl.compute(object, moment), ownTtl.rule);
}

/** What the policy alone says. */
function computeOwnVerdict(policy: CompiledPolicy, object: KubeObject, moment: Moment): Verdict {
  const finish = computeFinish(policy, object);
  const ttl = computeTtl(policy, object, finish);
  if (ttl.kind === 'error') return ttl;
  // An opt-out and an annotation nobody can read count whether or not it has finished.
  if (finish.kind === 'error')
    return ttl.kind === 'never' || ttl.kind === 'invalid'
      ? computeExpiry({ kind: 'unfinished' }, ttl, moment.now)
      : finish;
  return computeExpiry(finish, ttl, moment.now, moment.tolerance);
}

/** What the object says, where it may; otherwise what the policy says. */
function computeTtl(policy: CompiledPolicy, object: KubeObject, finish: Finish | Unjudged): Ttl | Unjudged {
  const own = computeOverride(object, finish);
  if (own !== undefined && (own.kind === 'never' || own.kind === 'invalid' || policy.allowOverrides))
    return own;
  const { ttl } = policy;
  if (ttl.kind === 'always') return { kind: 'after', length: ttl.length, rule: 'spec.ttl' };
  if (finish.kind !== 'finished' || policy.succeeded === undefined)
    // The outcome is asked only about what has finished; until then any length says the same.
    return { kind: 'after', length: 0 as Millis, rule: 'spec.ttlAfter' };
  const outcome = computeOutcome(policy.succeeded, object);
  if (typeof outcome !== 'boolean') return outcome;
  const length = outcome ? ttl.succeeded : ttl.failed;
  const rule = `spec.ttlAfter.${outcome ? 'succeeded' : 'failed'}`;
  return length === undefined ? { kind: 'none' } : { kind: 'after', length, rule };
}

/** The annotations; of two the one that keeps it longer. What cannot be read keeps it: somebody meant something. */
function computeOverride(object: KubeObject, finish: Finish | Unjudged): Ttl | undefined {
  const after = readTtlAnnotation(object.metadata);
  if (after?.kind === 'never' || after?.kind === 'invalid') return after;
  const expires = ownText(object.metadata.annotations ?? {}, EXPIRES_ANNOTATION);
  const at = expires === undefined ? undefined : readExpires(expires);
  if (at?.kind === 'invalid') return at;
  if (after?.kind !== 'after' || at?.kind !== 'at') return after ?? at;
  if (finish.kind !== 'finished') return at;
  return plus(finish.at, after.length) > at.at ? after : at;
}

const ownText = (annotations: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(annotations, key) ? annotations[key] : undefined;

function readExpires(text: string): Ttl {
  const at = parseInstant(text);
  return at === undefined
    ? unreadable(EXPIRES_ANNOTATION, text, 'not an RFC 3339 time')
    : { kind: 'at', at, rule: `annotation ${EXPIRES_ANNOTATION}` };
}

/**
 * Refused policies take no part, nor do policies in DryRun or Paused. While one is pending (its targets are being read), blind (they cannot be read, are not
 * served as it names them, or its rights cannot be reviewed) or broken (not understood), nobody knows what it would keep, and nothing it may mean is ended by
 * others.
 */
export type Standing = 'pending' | 'blind' | 'broken' | 'refused' | 'ready';

export type PolicyObstacle =
  | { readonly kind: 'pending'; readonly policy: AnyPolicy }
  /** Somebody must do something. */
  | { readonly kind: 'lasting'; readonly note: string };

const LASTING: Partial<Record<Standing, string>> = {
  blind: 'which cannot read what it selects, or learn what it may do',
  broken: 'which cannot be understood',
};

/** Policies of these modes never keep what another deletes. */
const HARMLESS: ReadonlySet<string | undefined> = new Set(['DryRun', 'Paused']);

/** What keeps an object that is due: `rivals` are the policies for its kind that may mean it. One that leaves means nothing. */
export function computeObstacle(
  rivals: readonly AnyPolicy[],
  standingOf: (policy: AnyPolicy) => Standing,
): PolicyObstacle | undefined {
  for (const policy of rivals) {
    if (policy.metadata.deletionTimestamp !== undefined || HARMLESS.has(policy.spec?.mode)) continue;
    const standing = standingOf(policy);
    if (standing === 'pending') return { kind: 'pending', policy };
    const why = LASTING[standing];
    if (why === undefined) continue;
    return { kind: 'lasting', note: `waits for ${policy.kind} ${objectName(keyOf(policy))}, ${why}` };
  }
  return undefined;
}

function describeVerdict(verdict: Verdict): string {
  if (verdict.kind === 'error') return `cannot be judged: ${verdict.note}`;
  return verdict.kind === 'leftAlone' ? `left alone: ${verdict.note}` : describeExpiry(verdict);
}

/** Why an object cannot be judged, for the status of one of its policies: another's error is named as that. */
export function computeError(opinions: readonly Opinion[], policy: CompiledPolicy): string | undefined {
  const errors = opinions.flatMap(({ policy: of, verdict }) =>
    verdict.kind === 'error' ? [{ of, note: verdict.note }] : [],
  );
  const own = errors.find(({ of }) => of === policy);
  if (own !== undefined) return own.note;
  const [other] = errors;
  return other === undefined ? undefined : `waits for ${other.of.name}, which cannot judge it: ${other.note}`;
}

/** The error of a policy that had no effect on the decision: a dry run that cannot evaluate the object says so. */
export function computeOwnError({ opinions }: End, policy: CompiledPolicy): string | undefined {
  if (policy.mode === 'Enforce') return undefined;
  const own = opinions.find(({ policy: of, verdict }) => of === policy && verdict.kind === 'error');
  return own?.verdict.kind === 'error' ? own.verdict.note : undefined;
}

/** One line per policy, for people. */
export const describeOpinions = (opinions: readonly Opinion[]): string =>
  opinions.map(({ policy, verdict }) => `${titleOf(policy)}: ${describeVerdict(verdict)}`).join('; ');

/** `TTLPolicy ci/runs`, or `TTLPolicy ci/runs (DryRun)`: the mode says that it has no effect. */
const titleOf = ({ name, mode }: CompiledPolicy): string => (mode === 'Enforce' ? name : `${name} (${mode})`);

/** What is counted about an object that is left alone; with a reason, people are told on the object as well. */
export interface Notice {
  readonly because: string;
  /** One word in CamelCase, the reason of the Event. */
  readonly reason?: string;
  readonly note: string;
}

export function computeNotice(end: End): Notice | undefined {
  if (end.kind === 'waiting') {
    if (end.ahead <= AHEAD_WORTH_TELLING) return undefined;
    const note = `its finish lies ${(end.ahead / 1000).toFixed(1)} s in the future: ${describeOpinions(end.opinions)}`;
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
