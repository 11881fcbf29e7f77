// Which objects a policy selects: by kind, labels and namespaces.

import type { ObjectKey } from '@lapse/kube/api/kind';
import { matchesLabels, parseLabelSelector } from '@lapse/kube/api/selectors';
import { type ClusterTTLPolicySpec, POLICY_DEFAULTS } from '#api/ttlPolicy';
import type { AnyPolicy, CompiledPolicy } from './compile.ts';

type Scope = 'name' | 'target' | 'namespace' | 'labelSelector' | 'labels' | 'namespaceLabels' | 'excluded';

/** Which objects the policy selects. */
export function compileScope(
  { kind, metadata: { namespace, name }, spec }: AnyPolicy,
  target: CompiledPolicy['target'],
  selection: string,
  namespaces: string,
): Pick<CompiledPolicy, Scope> {
  const isLocal = kind === 'TTLPolicy';
  const { excludedNamespaces }: ClusterTTLPolicySpec = spec ?? {};
  // For Namespaces both selectors apply to the labels of the object itself, in the version that is deleted.
  const isOwnLabels = isNamespace(target);
  const labelSelector = [selection, isOwnLabels ? namespaces : ''].filter((text) => text !== '').join(',');
  return {
    name: `${kind} ${isLocal ? `${namespace}/${name}` : name}`,
    target,
    ...(isLocal ? { namespace: namespace ?? '' } : {}),
    labelSelector,
    labels: parseLabelSelector(labelSelector),
    ...(namespaces === '' || isOwnLabels ? {} : { namespaceLabels: parseLabelSelector(namespaces) }),
    excluded: isLocal ? [] : (excludedNamespaces ?? POLICY_DEFAULTS.excludedNamespaces),
  };
}

const isNamespace = ({ group, kind }: CompiledPolicy['target']): boolean =>
  group === '' && kind === 'Namespace';

/**
 * Whether the policy includes the namespace of an object; a Namespace counts as being in itself. `labels` is only called
 * if the policy selects by labels of namespaces.
 */
export function isInScope(
  policy: CompiledPolicy,
  key: ObjectKey,
  labels: (namespace: string) => Readonly<Record<string, string>> | undefined,
): boolean {
  const namespace = isNamespace(policy.target) ? key.name : key.namespace;
  if (namespace === undefined || namespace === '') return policy.namespace === undefined;
  if (policy.namespace !== undefined) return policy.namespace === namespace;
  if (policy.excluded.some((glob) => matchesGlob(glob, namespace))) return false;
  if (policy.namespaceLabels === undefined) return true;
  const found = labels(namespace);
  return found !== undefined && matchesLabels(policy.namespaceLabels, found);
}

/** Whether a name matches a pattern such as `kube-*`. Linear time for any pattern. */
function matchesGlob(glob: string, name: string): boolean {
  const [first = '', ...rest] = glob.split('*');
  if (rest.length === 0) return name === first;
  const last = rest.pop()!;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
