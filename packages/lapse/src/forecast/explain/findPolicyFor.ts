// Which policy may be suggested for an object that no rule deletes. The family of policies evaluates a hypothetical
// one, so that no invalid policy is suggested.

import type { Kind } from '@lapse/kube/api/kind';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { ClusterTTLPolicy, TTLPolicy } from '#api/ttlPolicy';
import { collectForecasts, NOTHING_KNOWN } from '../forecast.ts';
import { createSnapshot, type Read } from '../snapshot.ts';
import type { RuleContext } from './ruleContext.ts';

/** Groups of Kubernetes itself. */
const OF_KUBERNETES = /^[^.]*$|\.k8s\.io$/;
/** Namespaces that a cluster cannot work without. */
const VITAL = /^(default|kube-.*)$/;

/** `TTLPolicy` or `ClusterTTLPolicy`. Undefined: no policy could delete it, or it should not be suggested. */
export async function findPolicyFor(
  context: Pick<RuleContext, 'served' | 'now' | 'general' | 'document' | 'known' | 'selected'>,
  kind: ServedKind,
  name: string,
): Promise<string | undefined> {
  if (!kind.namespaced && isPrerequisite(kind, name)) return undefined;
  const policyKind = (kind.namespaced ? TTLPolicy : ClusterTTLPolicy) as Kind;
  const families = context.selected.filter(({ kinds }) =>
    kinds.some((one) => one.kind.kind === policyKind.kind),
  );
  if (families.length === 0) return undefined;
  const setting = {
    ...context,
    // The author is assumed to have the rights. Admission reports it otherwise.
    general: { ...context.general, actAs: 'controller' as const },
    snapshot: createSnapshot(context.served, only(policyKind, imagine(policyKind, kind))),
  };
  for await (const { statement } of collectForecasts(setting, families, NOTHING_KNOWN, () => {}))
    if (statement.kind === 'held') return undefined;
  return policyKind.kind;
}

const imagine = (policy: Kind, target: ServedKind): KubeObject =>
  ({
    apiVersion: apiVersionOf(policy),
    kind: policy.kind,
    metadata: { name: 'imagined', uid: 'imagined', ...(policy.namespaced ? { namespace: 'default' } : {}) },
    spec: { target: { apiVersion: apiVersionOf(target), kind: target.kind }, ttl: '1h', mode: 'DryRun' },
  }) as unknown as KubeObject;

/** A snapshot that contains only this object. */
const only =
  (kind: Kind, object: KubeObject): Read =>
  (source) =>
    Promise.resolve(source.kind.kind === kind.kind ? [object as never] : []);

/** Nodes, volumes, CRDs and roles are prerequisites of other objects. A namespace may be temporary. */
const isPrerequisite = ({ group, kind }: ServedKind, name: string): boolean =>
  group === '' && kind === 'Namespace' ? VITAL.test(name) : OF_KUBERNETES.test(group);
