// For tests of this folder: short forms of policies and objects.

import { formatTime, type Instant, instant } from '@lapse/base/instant';
import type { KubeObject, ObjectMeta } from '@lapse/kube/api/object';
import { type ClusterTTLPolicy, type ClusterTTLPolicySpec, TTLPolicy } from '#api/ttlPolicy';
import { type CompiledPolicy, compilePolicy } from './compile.ts';

/** Seconds after an arbitrary start. */
export const at = (seconds: number): Instant => instant(1_750_000_000_000 + seconds * 1000);
export const time = (seconds: number): string => formatTime(at(seconds));

export const RUN = { apiVersion: 'tekton.dev/v1', kind: 'PipelineRun' } as const;

export const policy = (spec: Partial<ClusterTTLPolicySpec> = {}, metadata: ObjectMeta = {}): TTLPolicy => ({
  apiVersion: 'lapse.dev/v1alpha1',
  kind: TTLPolicy.kind,
  metadata: { namespace: 'ci', name: 'runs', ...metadata },
  spec: {
    target: { ...RUN },
    mode: 'Enforce',
    ...(spec.ttl === undefined && spec.ttlAfter === undefined ? { ttl: '60s' } : {}),
    ...spec,
  },
});

export const clusterPolicy = (
  spec: Partial<ClusterTTLPolicySpec> = {},
  metadata: ObjectMeta = {},
): ClusterTTLPolicy => ({
  ...policy(spec),
  kind: 'ClusterTTLPolicy',
  metadata: { name: 'all-runs', ...metadata },
});

export function compiled(
  spec: Partial<ClusterTTLPolicySpec> = {},
  metadata: ObjectMeta = {},
): CompiledPolicy {
  const result = compilePolicy(policy(spec, metadata));
  if (result.kind === 'invalid')
    throw new Error(result.errors.map((e) => `${e.field}: ${e.message}`).join('\n'));
  return result.policy;
}

/** A PipelineRun that finished this many seconds after the start. */
export const run = (
  finished: number | undefined,
  more: { metadata?: ObjectMeta; status?: object } = {},
): KubeObject => ({
  ...RUN,
  metadata: {
    name: 'run-1',
    namespace: 'ci',
    uid: 'u1',
    resourceVersion: '7',
    creationTimestamp: time(-100),
    ...more.metadata,
  },
  status: { ...(finished === undefined ? {} : { completionTime: time(finished) }), ...more.status },
});

export const annotated = (finished: number | undefined, annotations: Record<string, string>): KubeObject =>
  run(finished, { metadata: { annotations } });

export const NO_LIMITS = { firstActivation: 0 } as const;
