// What the decisions of all policies about one object come to. Policies that enforce decide first: the one that keeps the
// object longest wins. A policy in DryRun or Paused has no effect on them; it decides only what they leave open, and then
// nothing is deleted. The result names all of them.

import { assertNever } from '@lapse/base/assertNever';
import { type Instant, instant, type Millis } from '@lapse/base/instant';
import type { PolicyMode } from '#api/ttlPolicy';
import { type Expiry, endOfBasis, type NotApplicable } from '#deletion/expiry';
import type { CompiledPolicy } from './compile.ts';
import type { Unjudged } from './finish.ts';

/** The policy leaves the object alone: it neither deletes nor keeps it. */
export interface LeftAlone {
  readonly kind: 'leftAlone';
  readonly note: string;
}

export type Verdict = Expiry | Unjudged | LeftAlone;

/** Why an object stays for as long as nothing changes. */
export type Kept = Exclude<NotApplicable, 'no TTL'> | 'error';

export interface Opinion<P extends CompiledPolicy = CompiledPolicy> {
  readonly policy: P;
  readonly verdict: Verdict;
}

interface Combined<P extends CompiledPolicy> {
  /** The weakest mode of the policies that decided. */
  readonly mode: PolicyMode;
  readonly opinions: readonly Opinion<P>[];
}

export type End<P extends CompiledPolicy = CompiledPolicy> =
  /** No policy has a TTL for it. */
  | { readonly kind: 'none'; readonly opinions: readonly Opinion<P>[] }
  | ({ readonly kind: 'kept'; readonly because: Kept; readonly note?: string } & Combined<P>)
  /**
   * `until`: the next evaluation; `ends`: its deadline, which is later where it is held. `ahead`: the finish lies that far
   * in the future; `held`: further than clocks may differ.
   */
  | ({
      readonly kind: 'waiting';
      readonly until: Instant;
      readonly ends: Instant;
      readonly held: boolean;
      readonly ahead: Millis;
    } & Combined<P>)
  /** `by` acts: of the policies of `mode`, the last to expire. */
  | ({ readonly kind: 'expired'; readonly since: Instant; readonly by: P } & Combined<P>);

type Deadline = Exclude<Verdict, { kind: 'notApplicable' | 'error' | 'leftAlone' }>;

const MODES: readonly PolicyMode[] = ['Enforce', 'DryRun', 'Paused'];

/** Whether a decision of policies of `mode` is also that of a policy of mode `own`; a weaker one decides for no stronger. */
export const decidesFor = (mode: PolicyMode, own: PolicyMode): boolean =>
  MODES.indexOf(own) >= MODES.indexOf(mode);

export function combine<P extends CompiledPolicy>(opinions: readonly Opinion<P>[]): End<P> {
  let open: End<P> = { kind: 'none', opinions };
  for (const [i, mode] of MODES.entries()) {
    const heard = opinions.filter(({ policy }) => MODES.indexOf(policy.mode) <= i);
    if (!heard.some(({ policy }) => policy.mode === mode)) continue;
    const end = combineHeard(heard, { mode, opinions });
    if (end === undefined) continue;
    if (end.kind !== 'kept' || end.because !== 'unfinished') return end;
    if (open.kind === 'none') open = end;
  }
  return open;
}

/** Whatever keeps it without an end comes before any deadline; the latest deadline comes before the others. */
function combineHeard<P extends CompiledPolicy>(
  heard: readonly Opinion<P>[],
  combined: Combined<P>,
): End<P> | undefined {
  let latest: Deadline | undefined;
  let ends = Number.NEGATIVE_INFINITY;
  for (const { verdict } of byWeight(effective(heard))) {
    if (verdict.kind === 'leftAlone') continue;
    if (verdict.kind === 'error') return { kind: 'kept', because: 'error', note: verdict.note, ...combined };
    if (verdict.kind === 'notApplicable') {
      const note = verdict.note === undefined ? {} : { note: verdict.note };
      return { kind: 'kept', because: verdict.because as Kept, ...note, ...combined };
    }
    ends = Math.max(ends, endOfBasis(verdict.because));
    if (latest === undefined || endOf(verdict) > endOf(latest)) latest = verdict;
  }
  if (latest === undefined) return undefined;
  if (latest.kind === 'expired')
    return { kind: 'expired', since: latest.since, by: actingOf(heard, combined.mode), ...combined };
  return {
    kind: 'waiting',
    until: latest.until,
    ends: instant(Math.max(ends, latest.until)),
    held: latest.kind === 'held',
    ahead: latest.ahead,
    ...combined,
  };
}

/** Without policies that have no TTL for it, and without "unfinished" where another policy has a deadline by age. */
function effective<P extends CompiledPolicy>(heard: readonly Opinion<P>[]): readonly Opinion<P>[] {
  const isByAge = ({ policy, verdict }: Opinion<P>) =>
    policy.finish.kind === 'created' && isDeadline(verdict);
  const ignored: readonly NotApplicable[] = heard.some(isByAge) ? ['no TTL', 'unfinished'] : ['no TTL'];
  return heard.filter(
    ({ verdict }) => verdict.kind !== 'notApplicable' || !ignored.includes(verdict.because),
  );
}

const isDeadline = (verdict: Verdict): verdict is Deadline =>
  verdict.kind === 'waiting' || verdict.kind === 'held' || verdict.kind === 'expired';

/** The reason that outlasts the others comes first: opted out, being deleted, errors, the rest. */
const WEIGHTS: readonly string[] = ['opted out', 'being deleted', 'invalid TTL', 'error'];

function byWeight<P extends CompiledPolicy>(opinions: readonly Opinion<P>[]): Opinion<P>[] {
  const weight = ({ verdict }: Opinion<P>): number => {
    if (verdict.kind !== 'error' && verdict.kind !== 'notApplicable') return WEIGHTS.length + 1;
    const found = WEIGHTS.indexOf(verdict.kind === 'error' ? 'error' : verdict.because);
    return found === -1 ? WEIGHTS.length : found;
  };
  return [...opinions].sort((a, b) => weight(a) - weight(b));
}

/** When a policy alone would delete it. A held one is not believed at all, so it outlasts every deadline. */
function endOf(verdict: Deadline): number {
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

/** Only a policy of the deciding mode acts: a dry run never makes another policy delete. */
function actingOf<P extends CompiledPolicy>(heard: readonly Opinion<P>[], mode: PolicyMode): P {
  const sinceOf = ({ verdict }: Opinion<P>) => (verdict.kind === 'expired' ? verdict.since : 0);
  const [first] = heard
    .filter(({ policy, verdict }) => policy.mode === mode && verdict.kind === 'expired')
    .sort((a, b) => sinceOf(b) - sinceOf(a));
  return first!.policy;
}
