// What is watched and cached for policies: targets, policies, namespaces (for labels) and CRDs (for new kinds). Of
// namespaces and CRDs only metadata is read.

import { type Kind, metadataOf, type ObjectKey } from '@lapse/kube/api/kind';
import { CustomResourceDefinition, Namespace } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { projectFields } from '@lapse/runtime/fieldProjection';
import { type Projection, type Source, whole } from '@lapse/runtime/source';
import { TTL_ANNOTATION } from '#expiry/expiry';
import { EXPIRES_ANNOTATION } from '#expiry/ttlAnnotation';
import type { CompiledPolicy } from './compile.ts';

/**
 * The source of the targets of a policy. It keeps the fields that the policy reads: the projection gives the same
 * decision as the object.
 */
export function sourceOf(policy: CompiledPolicy, key: ObjectKey, kind: Kind): Source {
  return {
    kind: policy.reads?.length === 0 ? (metadataOf(kind) as Kind) : kind,
    projection: buildProjection(policy, key),
    ...(policy.namespace === undefined ? {} : { namespace: policy.namespace }),
    ...(policy.labelSelector === '' ? {} : { labelSelector: policy.labelSelector }),
  };
}

/** Identifies the policy of a source. Every generation of a policy has its own source and lists its targets again. */
export interface PolicyProjection extends Projection<KubeObject> {
  readonly policy: ObjectKey;
}

export const isPolicyProjection = (
  projection: Projection<KubeObject> | undefined,
): projection is PolicyProjection => projection !== undefined && 'policy' in projection;

const KEPT_ANNOTATIONS = [TTL_ANNOTATION, EXPIRES_ANNOTATION];

export function buildProjection(policy: CompiledPolicy, key: ObjectKey): PolicyProjection {
  const { reads } = policy;
  return {
    name: `targets of ${policy.name}`,
    policy: key,
    project: (object) =>
      reads === undefined ? whole.project(object) : projectFields(object, KEPT_ANNOTATIONS, reads),
  };
}

/** Other changes do not affect the decision. The resourceVersion is only needed for the DELETE. */
export function targetFacts(object: KubeObject): unknown {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

const labelled: Projection<KubeObject> = {
  name: 'labels',
  project: ({ apiVersion, kind, metadata: { name, uid, resourceVersion, labels } }) => ({
    apiVersion,
    kind,
    metadata: identity({ name, uid, resourceVersion, labels }),
  }),
};

/** Every change counts, because a kind is served some time after its CRD was created. So the version is a fact. */
const versioned: Projection<KubeObject> = {
  name: 'versions',
  project: ({ apiVersion, kind, metadata: { name, uid, resourceVersion } }) => ({
    apiVersion,
    kind,
    metadata: identity({ name, uid, resourceVersion }),
    version: resourceVersion,
  }),
};

/** Removes undefined fields. */
const identity = (metadata: { [field: string]: unknown }): KubeObject['metadata'] =>
  Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined));

export const NAMESPACES: Source = { kind: metadataOf(Namespace) as Kind, projection: labelled };
export const DEFINITIONS: Source = {
  kind: metadataOf(CustomResourceDefinition) as Kind,
  projection: versioned,
};
