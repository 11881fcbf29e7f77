// Every decision about one object. Each policy that selects it gives a verdict; the one that keeps it longest wins, and
// the answer names all of them. Pure: the same function serves passes, the second look after a conflict, and explanations.

import { keyOf } from '#api/kind';
import type { KubeObject } from '#api/object';
import { assertNever } from '#base/assertNever';
import { type Instant, instant, type Millis, plus } from '#base/instant';
import {
  AHEAD_WORTH_TELLING,
  computeExpiry,
  describeExpiry,
  type Expiry,
  endOfBasis,
  type Finish,
  type NotApplicable,
  type Ttl,
} from '#lifecycle/expiry';
import { readTtlAnnotation, unreadable } from '#lifecycle/ttlAnnotation';
import type { AnyPolicy, CompiledPolicy } from './compile.ts';
import { computeFinish, computeOutcome, parseInstant, type Unjudged } from './finish.ts';
import { objectName } from './keys.ts';

/** The end of an object, written on it; counts under policies with allowOverrides. */
export const EXPIRES_ANNOTATION = 'lapse.dev/expires-at';

export type Verdict = Expiry | Unjudged;

/** Why an object stays for as long as nothing changes. */
export type Kept = Exclude<NotApplicable, 'no TTL'> | 'error';

export interface Opinion<P extends CompiledPolicy = CompiledPolicy> {
  readonly policy: P;
  readonly verdict: Verdict;
}

export type End<P extends CompiledPolicy = CompiledPolicy> =
  /** No policy says anything about it. */
  | { readonly kind: 'none' }
  | {
      readonly kind: 'kept';
      readonly because: Kept;
      readonly note?: string;
      readonly opinions: readonly Opinion<P>[];
    }
  /**
   * `until`: when to look again; `ends`: its deadline, which is later where it is held. `ahead`: the finish lies that far
   * in the future; `held`: further than clocks may differ.
   */
  | {
      readonly kind: 'waiting';
      readonly until: Instant;
      readonly ends: Instant;
      readonly held: boolean;
      readonly ahead: Millis;
      readonly opinions: readonly Opinion<P>[];
    }
  /** `by` is who acts: the last to agree among those that enforce, else among those that are tried out. */
  | {
      readonly kind: 'expired';
      readonly since: Instant;
      readonly by: P;
      readonly opinions: readonly Opinion<P>[];
    };

export interface Moment {
  readonly now: Instant;
  /** How far a finish may lie in the future before it is not believed. */
  readonly tolerance: Millis;
}

/** An object as one policy sees it: of different policies different fields are kept. */
export interface Seen<P extends CompiledPolicy = CompiledPolicy> {
  readonly policy: P;
  readonly object: KubeObject;
}

export function computeEnd<P extends CompiledPolicy>(seen: readonly Seen<P>[], moment: Moment): End<P> {
  const opinions = seen
    .map(({ policy, object }): Opinion<P> => ({ policy, verdict: computeVerdict(policy, object, moment) }))
    .filter(({ verdict }) => !hasNoOpinion(verdict));
  return opinions.length === 0 ? { kind: 'none' } : combine(opinions);
}

/** An outcome without a TTL: the policy neither ends nor keeps it. */
const hasNoOpinion = (verdict: Verdict): boolean =>
  verdict.kind === 'notApplicable' && verdict.because === 'no TTL';

export function computeVerdict(policy: CompiledPolicy, object: KubeObject, moment: Moment): Verdict {
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

/** Whatever keeps it without an end comes before any deadline; the latest deadline comes before the others. */
function combine<P extends CompiledPolicy>(opinions: readonly Opinion<P>[]): End<P> {
  let latest: Exclude<Verdict, { kind: 'notApplicable' | 'error' }> | undefined;
  let ends = Number.NEGATIVE_INFINITY;
  for (const { verdict } of byWeight(opinions)) {
    if (verdict.kind === 'error') return { kind: 'kept', because: 'error', note: verdict.note, opinions };
    if (verdict.kind === 'notApplicable') {
      const note = verdict.note === undefined ? {} : { note: verdict.note };
      return { kind: 'kept', because: verdict.because as Kept, ...note, opinions };
    }
    ends = Math.max(ends, endOfBasis(verdict.because));
    if (latest === undefined || endOf(verdict) > endOf(latest)) latest = verdict;
  }
  if (latest === undefined) return { kind: 'none' };
  if (latest.kind === 'expired')
    return { kind: 'expired', since: latest.since, by: actingOf(opinions), opinions };
  return {
    kind: 'waiting',
    until: latest.until,
    ends: instant(Math.max(ends, latest.until)),
    held: latest.kind === 'held',
    ahead: latest.ahead,
    opinions,
  };
}

/** The reason that outlasts the others is told first: opted out, being deleted, errors, the rest. */
const WEIGHTS: readonly string[] = ['opted out', 'being deleted', 'invalid TTL', 'error'];

function byWeight<P extends CompiledPolicy>(opinions: readonly Opinion<P>[]): Opinion<P>[] {
  const weight = ({ verdict }: Opinion<P>): number => {
    if (verdict.kind !== 'error' && verdict.kind !== 'notApplicable') return WEIGHTS.length + 1;
    const found = WEIGHTS.indexOf(verdict.kind === 'error' ? 'error' : verdict.because);
    return found === -1 ? WEIGHTS.length : found;
  };
  return [...opinions].sort((a, b) => weight(a) - weight(b));
}

/** When a policy alone would end it. A held one is not believed at all, so it outlasts whatever has a deadline. */
function endOf(verdict: Exclude<Verdict, { kind: 'notApplicable' | 'error' }>): number {
  switch (verdict.kind) {
    case 'expired':
      return verdict.since;
    case 'waiting':
      return verdict.until;
    case 'held':
      return Number.MAX_VALUE;
    default:
      return assertNever(verdict);
  }
}

const STRENGTH = { Enforce: 2, DryRun: 1, Paused: 0 } as const;

/** All have expired: who acts. A policy that is only tried out, or paused, can keep an object and never end it. */
function actingOf<P extends CompiledPolicy>(opinions: readonly Opinion<P>[]): P {
  const sinceOf = ({ verdict }: Opinion<P>) => (verdict.kind === 'expired' ? verdict.since : 0);
  const [first] = [...opinions].sort(
    (a, b) => STRENGTH[b.policy.mode] - STRENGTH[a.policy.mode] || sinceOf(b) - sinceOf(a),
  );
  return first!.policy;
}

/**
 * Refused policies take no part. While one is pending (its targets are being read), blind (they cannot be read, are not
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

/** What keeps an object that is due: `rivals` are the policies for its kind that may mean it. One that leaves means nothing. */
export function computeObstacle(
  rivals: readonly AnyPolicy[],
  standingOf: (policy: AnyPolicy) => Standing,
): PolicyObstacle | undefined {
  for (const policy of rivals) {
    if (policy.metadata.deletionTimestamp !== undefined) continue;
    const standing = standingOf(policy);
    if (standing === 'pending') return { kind: 'pending', policy };
    const why = LASTING[standing];
    if (why === undefined) continue;
    return { kind: 'lasting', note: `waits for ${policy.kind} ${objectName(keyOf(policy))}, ${why}` };
  }
  return undefined;
}

const describeVerdict = (verdict: Verdict): string =>
  verdict.kind === 'error' ? `cannot be judged: ${verdict.note}` : describeExpiry(verdict);

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

/** One line per policy, for people. */
export const describeOpinions = (opinions: readonly Opinion[]): string =>
  opinions.map(({ policy, verdict }) => `${policy.name}: ${describeVerdict(verdict)}`).join('; ');

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
