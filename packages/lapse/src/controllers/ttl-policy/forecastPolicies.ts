// Assesses which policies would work: the conditions of activation.ts, evaluated on a snapshot.

import { findCondition } from '@lapse/kube/api/conditions';
import { invalidError } from '@lapse/kube/api/fieldErrors';
import { describeKind, type Kind, keyOf, plainKind } from '@lapse/kube/api/kind';
import type { Source } from '@lapse/runtime/source';
import { AUTHOR_ANNOTATION } from '#authors/authorSeal';
import { type ForecastContext, readSources } from '../forecaster.ts';
import { computeUnfit } from './activation.ts';
import { type AnyPolicy, type CompiledPolicy, compilePolicy } from './compile.ts';
import { computeObstacle, type PolicyObstacle, type Standing } from './decide.ts';
import { objectName } from './keys.ts';
import { BY_TARGET, policiesFor, policyKinds, policySources } from './policyIndex.ts';
import { authorRefusal, computeNeeds, computeRefusedKind, type Refusal } from './rights.ts';
import { sourceOf } from './sources.ts';

export interface ReadyPolicy extends CompiledPolicy {
  readonly kind: Kind;
  readonly source: Source;
}

export interface Assessed {
  readonly policy: AnyPolicy;
  /** TTLPolicy or ClusterTTLPolicy. */
  readonly of: Kind<AnyPolicy>;
  readonly standing: Standing;
  readonly rule: string;
  /** Why the policy is not ready. */
  readonly because: string;
  readonly ready?: ReadyPolicy;
}

export interface Assessment {
  readonly assessed: readonly Assessed[];
  /** Why a due object of this kind and namespace is not deleted yet. */
  obstacleFor(kind: Kind, namespace: string | undefined): PolicyObstacle | undefined;
}

export async function assessPolicies(forecastContext: ForecastContext): Promise<Assessment> {
  const { snapshot, namespace } = forecastContext;
  const kinds = policyKinds(namespace);
  const sources = policySources(namespace).map((source) => ({ ...source, indexes: BY_TARGET }));
  const reader = await readSources(snapshot, sources);
  const assessed = kinds.flatMap((of) =>
    [...reader.list(of)]
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map((policy) => assess(policy, of, forecastContext)),
  );
  const standings = new Map(assessed.map(({ policy, standing }) => [policy, standing]));
  return {
    assessed,
    obstacleFor: (kind, home) =>
      computeObstacle(policiesFor(reader, kinds, kind, home), (policy) => standings.get(policy) ?? 'refused'),
  };
}

function assess(policy: AnyPolicy, of: Kind<AnyPolicy>, forecastContext: ForecastContext): Assessed {
  const key = keyOf(policy);
  const base = { policy, of, rule: `${of.kind} ${objectName(key)}` };
  const compiled = compilePolicy({ ...policy, kind: of.kind } as AnyPolicy);
  if (compiled.kind === 'invalid') {
    const { message } = invalidError({ group: of.group, kind: of.kind }, key.name, compiled.errors);
    return { ...base, standing: 'broken', because: message };
  }
  const refused = (because: string): Assessed => ({ ...base, standing: 'refused', because });
  const never = computeRefusedKind(compiled.policy);
  if (never !== undefined) return refused(never.message);
  const { target } = compiled.policy;
  const served = forecastContext.snapshot.served.find(
    (kind) => kind.group === target.group && kind.version === target.version && kind.kind === target.kind,
  );
  if (served === undefined)
    return { ...base, standing: 'blind', because: `the API server does not serve ${describeKind(target)}` };
  const refusal =
    computeUnfit(compiled.policy, served) ??
    authorMissing(policy, compiled.policy, served, forecastContext) ??
    lastReview(policy);
  if (refusal !== undefined) return refused(refusal.message);
  const kind = plainKind(served);
  const source = sourceOf(compiled.policy, key, kind);
  return { ...base, standing: 'ready', because: '', ready: { ...compiled.policy, kind, source } };
}

function authorMissing(
  policy: AnyPolicy,
  compiled: CompiledPolicy,
  served: Kind,
  { actAs }: ForecastContext,
): Refusal | undefined {
  const { author } = computeNeeds(compiled, served, actAs);
  const isSigned = policy.metadata.annotations?.[AUTHOR_ANNOTATION] !== undefined;
  return author.length > 0 && !isSigned ? authorRefusal({ kind: 'unknown' }, policy) : undefined;
}

/** Reasons of Ready=False about permissions. Only a review, which is a write, could give a newer answer. */
const ABOUT_RIGHTS: ReadonlySet<string> = new Set([
  'AuthorUnknown',
  'AuthorExpired',
  'AuthorNotPermitted',
  'AccountNotPermitted',
  'NotPermitted',
  'ImpersonationDisabled',
]);

function lastReview({ metadata, status }: AnyPolicy): Refusal | undefined {
  const ready = findCondition(status?.conditions, 'Ready');
  const { reason = '', message = '' } = ready ?? {};
  const isCurrent = status?.observedGeneration === metadata.generation;
  return ready?.status === 'False' && isCurrent && ABOUT_RIGHTS.has(reason) ? { reason, message } : undefined;
}
