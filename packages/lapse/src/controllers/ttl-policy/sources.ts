// Sources other than targets, watched while a policy needs them: policies, namespaces (for labels) and CRDs (for new
// kinds). Of namespaces and CRDs only metadata is read.

import { type Kind, metadataOf } from '@lapse/kube/api/kind';
import { CustomResourceDefinition, Namespace } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Projection, Source } from '@lapse/runtime/source';
import { ClusterTTLPolicy, TTLPolicy } from '#api/ttlPolicy';

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

/** The caches of the controller itself. They are declared so that a policy can trigger reconciles of other targets. */
export const policySources = (namespace: string | undefined): readonly Source[] =>
  namespace === undefined
    ? [{ kind: TTLPolicy as Kind }, { kind: ClusterTTLPolicy as Kind }]
    : [{ kind: TTLPolicy as Kind, namespace }];

export const isPolicyKind = ({ group, resource }: Kind): boolean =>
  group === TTLPolicy.group && (resource === TTLPolicy.resource || resource === ClusterTTLPolicy.resource);
