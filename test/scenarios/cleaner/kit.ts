// Objects for scenarios about Cleaners: the YAML of the proposal, kinds shaped like Knative's, and objects of these
// kinds.

import { defineKind } from '@lapse/kube/api/kind';
import type { Condition } from '@lapse/kube/api/kinds/builtin';
import { defineCustomKind } from '@lapse/kube/api/kinds/customKind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Cleaner, CleanerSpec } from 'lapse/api/cleaner';
import type { Scene } from '../scene.ts';

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const knative = (kind: string, resource: string) =>
  defineCustomKind({
    kind: defineKind({ group: 'serving.knative.dev', version: 'v1', kind, resource, namespaced: true }),
    description: `A ${kind} as Knative has it.`,
    spec: anything,
    status: anything,
    required: [],
  });

export const KNATIVE = [knative('Service', 'services'), knative('Revision', 'revisions')];

export const cleaner = (
  spec: Partial<CleanerSpec> = {},
  metadata: Partial<KubeObject['metadata']> = {},
): Cleaner => ({
  apiVersion: 'cleaner.vtex.dev/v1alpha',
  kind: 'Cleaner',
  metadata: { name: 'c', namespace: 'default', ...metadata },
  spec: { ttl: '1h', ...spec },
});

export const configMap = (
  name: string,
  labels?: Record<string, string>,
  more: Partial<KubeObject['metadata']> = {},
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...(labels && { labels }), ...more },
  data: {},
});

/** A ConfigMap target, by name or by labels. */
export const target = (
  name: string,
  which: string | Record<string, string>,
  flags: { delete?: boolean; include?: boolean } = {},
) => ({
  name,
  reference: {
    version: 'v1',
    kind: 'configmap',
    ...(typeof which === 'string' ? { name: which } : { matchLabels: which }),
  },
  delete: flags.delete ?? false,
  includeWhenEvaluating: flags.include ?? false,
});

/**
 * Acts as the controller, because these scenarios are not about rights. The key is in a namespace that exists from the
 * start.
 */
export function begin(scene: Scene, configuration: object = {}): void {
  scene.given.controllers('cleaner');
  const authorKeySecret = { namespace: 'kube-system' };
  scene.given.configuration({
    actAs: 'controller',
    cleaner: { authorKeySecret, ...configuration } as never,
  });
}

export async function ready({ then }: Scene, ref = 'cleaner/c'): Promise<Condition> {
  const { status } = await then.object<Cleaner>(ref);
  const found = status?.conditions?.find(({ type }) => type === 'Ready');
  if (found === undefined) throw new Error(`${ref} has no Ready condition`);
  return found;
}

export const reasonOf = async (scene: Scene, ref?: string): Promise<string> =>
  (await ready(scene, ref)).reason ?? '';

export const statusOf = async ({ then }: Scene, ref = 'cleaner/c'): Promise<NonNullable<Cleaner['status']>> =>
  (await then.object<Cleaner>(ref)).status ?? {};

/** Requests of the process, without those about Cleaners, CRDs and the like. */
export const askedAboutTargets = ({ then }: Scene, resource = 'configmaps'): string[] =>
  then.requests((request) => request.resource === resource).map(({ verb, name }) => `${verb} ${name ?? '*'}`);

export const namespaceOf = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
});
