// For scenarios about policies: a minimal kind that finishes, and policies for it.

import { formatTime, type Millis, millis } from '@lapse/base/instant';
import { defineKind } from '@lapse/kube/api/kind';
import { type CustomKind, defineCustomKind } from '@lapse/kube/api/kinds/customKind';
import type { KubeObject, ObjectMeta } from '@lapse/kube/api/object';
import type { ClusterTTLPolicySpec } from 'lapse/api/ttlPolicy';
import { at } from './kit.ts';

export const PipelineRun = defineKind<KubeObject>({
  group: 'tekton.dev',
  version: 'v1',
  kind: 'PipelineRun',
  resource: 'pipelineruns',
  namespaced: true,
});

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
export const PipelineRunKind: CustomKind = defineCustomKind({
  kind: PipelineRun,
  description: 'A run of a pipeline.',
  spec: anything,
  status: anything,
  required: [],
});

export interface RunOptions extends Omit<ObjectMeta, 'name'> {
  /** Time since the start of the scenario. Unset: still running. */
  readonly finished?: Millis;
  readonly succeeded?: boolean;
}

export const run = (
  name: string,
  { finished, succeeded = true, ...metadata }: RunOptions = {},
): KubeObject => ({
  apiVersion: 'tekton.dev/v1',
  kind: 'PipelineRun',
  metadata: { name, namespace: 'default', ...metadata },
  spec: {},
  ...(finished === undefined ? {} : { status: runStatus(finished, succeeded) }),
});

export const runStatus = (finished: Millis = millis(0), succeeded = true) => ({
  completionTime: formatTime(at(finished)),
  conditions: [
    { type: 'Succeeded', status: succeeded ? 'True' : 'False', lastTransitionTime: formatTime(at(finished)) },
  ],
});

type Spec = Partial<ClusterTTLPolicySpec>;

/** Deletes PipelineRuns after ten minutes by default. */
const spec = (given: Spec): ClusterTTLPolicySpec => ({
  target: { apiVersion: 'tekton.dev/v1', kind: 'PipelineRun' },
  mode: 'Enforce',
  ...(given.ttl === undefined && given.ttlAfter === undefined ? { ttl: '10m' } : {}),
  ...given,
});

export const ttlPolicy = (name: string, given: Spec = {}, metadata: ObjectMeta = {}): KubeObject => ({
  apiVersion: 'lapse.dev/v1alpha1',
  kind: 'TTLPolicy',
  metadata: { namespace: 'default', ...metadata, name },
  spec: spec(given),
});

export const clusterTtlPolicy = (name: string, given: Spec = {}): KubeObject => ({
  apiVersion: 'lapse.dev/v1alpha1',
  kind: 'ClusterTTLPolicy',
  metadata: { name },
  spec: spec(given),
});

export const namespace = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
});
