// Policies that select the kind of an object but not this object. They help to explain why it is kept.

import type { Kind } from '@lapse/kube/api/kind';
import { ClusterTTLPolicy, TTLPolicy } from '#api/ttlPolicy';
import { type ObjectName, Unreadable } from '#controllers/forecaster';
import type { RuleDecision } from './explanation.ts';
import type { RuleContext } from './ruleContext.ts';

type AnyPolicy = ClusterTTLPolicy | TTLPolicy;

const POLICIES = [TTLPolicy, ClusterTTLPolicy] as readonly Kind<AnyPolicy>[];

/** `broken`: why a policy is inactive, by its uid. */
export async function findNonMatchingPolicies(
  context: RuleContext,
  object: ObjectName,
  ruleDecisions: readonly RuleDecision[],
  broken: ReadonlyMap<string, string>,
): Promise<RuleDecision[]> {
  const family = context.selected.find(({ kinds }) => kinds.some(({ kind }) => kind.kind === TTLPolicy.kind));
  if (family === undefined) return [];
  const evaluated = new Set(ruleDecisions.flatMap(({ rule, policies = [] }) => [rule, ...policies]));
  const found: RuleDecision[] = [];
  for (const kind of POLICIES)
    for (const { metadata, spec } of await policiesFor(context, kind, object)) {
      if (!isForKindOf(spec, object)) continue;
      const rule = ruleOf(kind, metadata);
      const because = describeNonMatch(broken.get(metadata.uid ?? ''));
      if (!evaluated.has(rule)) found.push({ family: family.name, rule, says: 'kept', because });
    }
  return found;
}

const ruleOf = (kind: Kind<AnyPolicy>, { namespace, name }: AnyPolicy['metadata']): string =>
  `${kind.kind} ${kind.namespaced ? `${namespace}/` : ''}${name}`;

const describeNonMatch = (problem: string | undefined): string =>
  problem === undefined ? 'the policy does not select it' : `the policy is not active: ${problem}`;

const isForKindOf = (spec: AnyPolicy['spec'], { apiVersion, kind }: ObjectName): boolean =>
  spec?.target?.apiVersion === apiVersion && spec.target.kind === kind;

/** Policies that may select the object: those of its namespace and cluster-wide ones. */
async function policiesFor(
  { served, read, general }: RuleContext,
  kind: Kind<AnyPolicy>,
  { namespace }: ObjectName,
): Promise<AnyPolicy[]> {
  const isServed = served.some((one) => one.group === kind.group && one.kind === kind.kind);
  const isOutside = kind.namespaced ? namespace === undefined : general.namespace !== undefined;
  if (!isServed || isOutside) return [];
  try {
    const home = general.namespace === undefined ? {} : { namespace: general.namespace };
    const all = await read({ kind, ...home });
    return all.filter(({ metadata }) => !kind.namespaced || metadata.namespace === namespace);
  } catch (error) {
    // The rules have already reported that it cannot be read.
    if (error instanceof Unreadable) return [];
    throw error;
  }
}
