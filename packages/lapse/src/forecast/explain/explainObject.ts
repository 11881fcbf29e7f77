// The complete explanation of one object: the result, the decisions of other rules, disabled rules, dependents, and
// next steps.

import { plainKind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { Cascade } from '../cascade/cascade.ts';
import { readOwnership } from '../cascade/read.ts';
import { namingAmong } from '../resolveKind.ts';
import { createSnapshot } from '../snapshot.ts';
import { adviseOn } from './advice.ts';
import { evaluateDisabledRules, readingOnce } from './evaluateRules.ts';
import type { Decision, Explanation, RuleDecision } from './explanation.ts';
import { findActions } from './findActions.ts';
import { type ExplainContext, findDecision, foreignFinalizers, type ObjectDecision } from './findDecision.ts';
import { findPolicyFor } from './findPolicyFor.ts';

export interface ExplainOptions extends Omit<ExplainContext, 'onUnread'> {
  /** Also compute what the garbage collector deletes with it. Reads the metadata of everything around the object. */
  readonly cascade: boolean;
}

export async function explainObject(
  options: ExplainOptions,
  kind: ServedKind,
  found: KubeObject,
): Promise<Explanation> {
  const unread = new Set<string>();
  const context: ExplainContext = {
    ...options,
    read: readingOnce(options.read),
    onUnread: (what) => void unread.add(what),
  };
  const plain = plainKind(kind);
  const result = await findDecision(context, plain, found);
  const { object, decision, ruleDecisions, keeper } = result;
  const { now, served } = options;
  const hasNoRule = decision.kind === 'noRule';
  const disabled = await evaluateDisabledRules(context, object, ruleDecisions);
  const actions = await findActions(context, object);
  const policy = hasNoRule ? await findPolicyFor(context, kind, object.name) : undefined;
  const dependents = options.cascade ? await findDependents(context, result, kind) : undefined;
  return {
    object,
    now,
    decision,
    // Every rule reports that it is terminating, so the others are omitted.
    also:
      decision.kind === 'terminating'
        ? []
        : ruleDecisions.filter((ruleDecision) => ruleDecision !== deciding(decision)),
    disabled,
    ...(keeper === undefined ? {} : { keeper }),
    finalizers: foreignFinalizers(found.metadata.finalizers),
    ...(actions === undefined ? {} : { actions }),
    ...(dependents === undefined ? {} : { dependents }),
    next: adviseOn({ object, kind, decision, disabled, now, policy, naming: namingAmong(served) }),
    unread: [...unread],
  };
}

const deciding = (decision: Decision): RuleDecision | undefined =>
  'by' in decision ? decision.by : undefined;

async function findDependents(
  { served, read, now, onUnread }: ExplainContext,
  { object, decision }: ObjectDecision,
  { namespaced }: ServedKind,
): Promise<Explanation['dependents']> {
  const isNamespace = object.apiVersion === 'v1' && object.kind === 'Namespace';
  const ownership = await readOwnership({
    snapshot: createSnapshot(served, read),
    // Dependents of a namespaced object are in the same namespace.
    ...(namespaced && object.namespace !== undefined ? { namespace: object.namespace } : {}),
    endingNamespaces: new Set(isNamespace ? [object.name] : []),
    onUnread,
  });
  const propagation = decision.kind === 'deleted' ? (decision.by.propagation ?? 'Background') : 'Background';
  const { dependents: named, moreDependents: more } = new Cascade(ownership).delete({
    object,
    at: now,
    propagation,
  });
  return { named, more };
}
