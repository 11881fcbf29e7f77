// The index of policies by the kind that they select. The caches of the controllers and the lists of a forecast have the
// same index.

import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { KindReader } from '@lapse/runtime/reconcileContext';
import type { Source } from '@lapse/runtime/source';
import { ClusterTTLPolicy, TTLPolicy } from '#api/ttlPolicy';
import type { AnyPolicy } from './compile.ts';

const LOCAL = [TTLPolicy] as readonly Kind<AnyPolicy>[];
const ALL = [TTLPolicy, ClusterTTLPolicy] as readonly Kind<AnyPolicy>[];

/** With a namespace, only the TTLPolicies in it are evaluated. */
export const policyKinds = (namespace: string | undefined): readonly Kind<AnyPolicy>[] =>
  namespace === undefined ? ALL : LOCAL;

export const policySources = (namespace: string | undefined): readonly Source[] =>
  policyKinds(namespace).map((kind) => ({
    kind: kind as Kind,
    ...(namespace === undefined ? {} : { namespace }),
  }));

export const isPolicyKind = ({ group, resource }: Kind): boolean =>
  ALL.some((kind) => kind.group === group && kind.resource === resource);

export const BY_TARGET = { target: (policy: KubeObject) => [targetId(policy)] };

/** The policies for the kind `target` that may select an object in the namespace. */
export const policiesFor = (
  reader: Pick<KindReader, 'byIndex'>,
  kinds: readonly Kind<AnyPolicy>[],
  target: Kind,
  namespace: string | undefined,
): AnyPolicy[] =>
  kinds.flatMap((of) =>
    reader
      .byIndex(of, 'target', targetIdOf(target))
      .filter(({ metadata }) => !of.namespaced || metadata.namespace === namespace),
  );

/** `tekton.dev/PipelineRun`: the same for policies that name different versions of the kind. */
export function targetId({ spec }: KubeObject): string {
  const { apiVersion = '', kind = '' } = (spec as AnyPolicy['spec'] | undefined)?.target ?? {};
  const slash = apiVersion.indexOf('/');
  return `${slash === -1 ? '' : apiVersion.slice(0, slash)}/${kind}`;
}
export const targetIdOf = ({ group, kind }: Kind): string => `${group}/${kind}`;
