// Keys of the queue, for policies and targets. The key of a target contains its resource, so that an object has one key,
// regardless of the number of policies that select it and of their versions.
//
//   runs                              ClusterTTLPolicy runs
//   ci/runs                           TTLPolicy runs in ci
//   pipelineruns.tekton.dev/ci/run-1  the PipelineRun run-1 in ci
//   nodes.//worker-1                  the Node worker-1

import { type Kind, keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { ClusterTTLPolicy, TTLPolicy } from '#api/ttlPolicy';
import type { AnyPolicy } from './compile.ts';

export type Waking =
  | { readonly kind: 'policy'; readonly of: Kind<AnyPolicy>; readonly key: ObjectKey }
  | { readonly kind: 'target'; readonly resource: string; readonly key: ObjectKey };

/** `pipelineruns.tekton.dev`; a resource of the core group ends with the dot. */
export const resourceId = ({ resource, group }: Kind): string => `${resource}.${group}`;

export const targetKey = (kind: Kind, object: KubeObject): ObjectKey => {
  const { namespace = '', name } = keyOf(object);
  return { namespace: resourceId(kind), name: `${namespace}/${name}` };
};

export function parseWaking(key: ObjectKey): Waking {
  const { namespace, name } = key;
  if (namespace === undefined) return { kind: 'policy', of: ClusterTTLPolicy as Kind<AnyPolicy>, key };
  const slash = name.indexOf('/');
  if (slash === -1) return { kind: 'policy', of: TTLPolicy as Kind<AnyPolicy>, key };
  const home = name.slice(0, slash);
  const target = name.slice(slash + 1);
  return {
    kind: 'target',
    resource: namespace,
    key: home === '' ? { name: target } : { namespace: home, name: target },
  };
}

/** `ci/run-1`, for maps and messages. */
export const objectName = ({ namespace, name }: ObjectKey): string =>
  namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
