// Combines the decisions of all policies about one object. Policies in Enforce decide first: the one that keeps it
// longest wins. A policy in DryRun or Paused has no effect on them; it decides only if they do not, and then nothing is
// deleted. The result contains all decisions.

import { assertNever } from '@lapse/base/assertNever';
import { type Instant, instant, type Millis } from '@lapse/base/instant';
import type { PolicyMode } from '#api/ttlPolicy';
import { type Expiry, endOfBasis, type NotApplicable } from '#expiry/expiry';
import type { Unjudged } from '#expiry/statusFinish';
import type { CompiledPolicy } from './compile.ts';

/** The policy ignores the object: it neither deletes nor keeps it. */
export interface LeftAlone {
  readonly kind: 'leftAlone';
  readonly note: string;
}

export type PolicyExpiry = Expiry | Unjudged | LeftAlone;

/** Why an object is kept until something changes. */
export type Kept = Exclude<NotApplicable, 'no TTL'> | 'error';

export interface PolicyDecision<P extends CompiledPolicy = CompiledPolicy> {
  readonly policy: P;
  readonly expiry: PolicyExpiry;
}

interface Combined<P extends CompiledPolicy> {
  /** The weakest mode of the policies that decided. */
  readonly mode: PolicyMode;
  readonly decisions: readonly PolicyDecision<P>[];
}

export type End<P extends CompiledPolicy = CompiledPolicy> =
  /** No policy has a TTL for the object. */
  | { readonly kind: 'none'; readonly decisions: readonly PolicyDecision<P>[] }
  | ({ readonly kind: 'kept'; readonly because: Kept; readonly note?: string } & Combined<P>)
  /**
   * `until`: the next evaluation. `ends`: the deadline, which is later if the object is held. `ahead`: how far the finish
   * lies in the future. `held`: further than the tolerance.
   */
  | ({
      readonly kind: 'waiting';
      readonly until: Instant;
      readonly ends: Instant;
      readonly held: boolean;
      readonly ahead: Millis;
    } & Combined<P>)
  /** `by`: the policy that acts: the last one to expire of the policies in `mode`. */
  | ({ readonly kind: 'expired'; readonly since: Instant; readonly by: P } & Combined<P>);

type Deadline = Exclude<PolicyExpiry, { kind: 'notApplicable' | 'error' | 'leftAlone' }>;

const MODES: readonly PolicyMode[] = ['Enforce', 'DryRun', 'Paused'];

/** Whether a decision of policies in `mode` applies to a policy in mode `own`: only if `own` is the same or weaker. */
export const decidesFor = (mode: PolicyMode, own: PolicyMode): boolean =>
  MODES.indexOf(own) >= MODES.indexOf(mode);

export function combine<P extends CompiledPolicy>(decisions: readonly PolicyDecision<P>[]): End<P> {
  let open: End<P> = { kind: 'none', decisions };
  for (const [i, mode] of MODES.entries()) {
    const considered = decisions.filter(({ policy }) => MODES.indexOf(policy.mode) <= i);
    if (!considered.some(({ policy }) => policy.mode === mode)) continue;
    const end = combineConsidered(considered, { mode, decisions });
    if (end === undefined) continue;
    if (end.kind !== 'kept' || end.because !== 'unfinished') return end;
    if (open.kind === 'none') open = end;
  }
  return open;
}

/** A reason to keep the object comes before any deadline. Of several deadlines the latest counts. */
function combineConsidered<P extends CompiledPolicy>(
  considered: readonly PolicyDecision<P>[],
  combined: Combined<P>,
): End<P> | undefined {
  let latest: Deadline | undefined;
  let ends = Number.NEGATIVE_INFINITY;
  for (const { expiry } of byWeight(effective(considered))) {
    if (expiry.kind === 'leftAlone') continue;
    if (expiry.kind === 'error') return { kind: 'kept', because: 'error', note: expiry.note, ...combined };
    if (expiry.kind === 'notApplicable') {
      const note = expiry.note === undefined ? {} : { note: expiry.note };
      return { kind: 'kept', because: expiry.because as Kept, ...note, ...combined };
    }
    ends = Math.max(ends, endOfBasis(expiry.because));
    if (latest === undefined || endOf(expiry) > endOf(latest)) latest = expiry;
  }
  if (latest === undefined) return undefined;
  if (latest.kind === 'expired')
    return { kind: 'expired', since: latest.since, by: actingOf(considered, combined.mode), ...combined };
  return {
    kind: 'waiting',
    until: latest.until,
    ends: instant(Math.max(ends, latest.until)),
    held: latest.kind === 'held',
    ahead: latest.ahead,
    ...combined,
  };
}

/** Leaves out policies without a TTL for the object, and "unfinished" if another policy has a deadline by age. */
function effective<P extends CompiledPolicy>(
  considered: readonly PolicyDecision<P>[],
): readonly PolicyDecision<P>[] {
  const isByAge = ({ policy, expiry }: PolicyDecision<P>) =>
    policy.finish.kind === 'created' && isDeadline(expiry);
  const ignored: readonly NotApplicable[] = considered.some(isByAge) ? ['no TTL', 'unfinished'] : ['no TTL'];
  return considered.filter(
    ({ expiry }) => expiry.kind !== 'notApplicable' || !ignored.includes(expiry.because),
  );
}

const isDeadline = (expiry: PolicyExpiry): expiry is Deadline =>
  expiry.kind === 'waiting' || expiry.kind === 'held' || expiry.kind === 'expired';

/** The reason that lasts longest comes first: opted out, being deleted, errors, the rest. */
const WEIGHTS: readonly string[] = ['opted out', 'being deleted', 'invalid TTL', 'error'];

function byWeight<P extends CompiledPolicy>(decisions: readonly PolicyDecision<P>[]): PolicyDecision<P>[] {
  const weight = ({ expiry }: PolicyDecision<P>): number => {
    if (expiry.kind !== 'error' && expiry.kind !== 'notApplicable') return WEIGHTS.length + 1;
    const found = WEIGHTS.indexOf(expiry.kind === 'error' ? 'error' : expiry.because);
    return found === -1 ? WEIGHTS.length : found;
  };
  return [...decisions].sort((a, b) => weight(a) - weight(b));
}

/** When the policy alone would delete the object. A held deadline is not trusted, so it is later than any other. */
function endOf(expiry: Deadline): number {
  switch (expiry.kind) {
    case 'expired':
      return expiry.since;
    case 'waiting':
      return expiry.until;
    case 'held':
      return Number.MAX_VALUE;
    default:
      return assertNever(expiry);
  }
}

/** Only a policy of the deciding mode acts: a DryRun policy never makes another policy delete. */
function actingOf<P extends CompiledPolicy>(considered: readonly PolicyDecision<P>[], mode: PolicyMode): P {
  const sinceOf = ({ expiry }: PolicyDecision<P>) => (expiry.kind === 'expired' ? expiry.since : 0);
  const [first] = considered
    .filter(({ policy, expiry }) => policy.mode === mode && expiry.kind === 'expired')
    .sort((a, b) => sinceOf(b) - sinceOf(a));
  return first!.policy;
}
