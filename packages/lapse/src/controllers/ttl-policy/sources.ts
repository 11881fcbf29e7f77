// What is watched beside targets, while some policy needs it: the other policies, labels of namespaces, and the coming of
// kinds. Of the last two, metadata is enough.

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

/** Every change counts: a kind is served some time after its definition was made. So the version is a fact here. */
const versioned: Projection<KubeObject> = {
  name: 'versions',
  project: ({ apiVersion, kind, metadata: { name, uid, resourceVersion } }) => ({
    apiVersion,
    kind,
    metadata: identity({ name, uid, resourceVersion }),
    version: resourceVersion,
  }),
};

/** Without fields that are not there. */
const identity = (metadata: { [field: string]: unknown }): KubeObject['metadata'] =>
  Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined));

export const NAMESPACES: Source = { kind: metadataOf(Namespace) as Kind, projection: labelled };
export const DEFINITIONS: Source = {
  kind: metadataOf(CustomResourceDefinition) as Kind,
  projection: versioned,
};

/** The caches the controller has anyway. They are declared as well, so that one policy can wake the targets of others. */
export const policySources = (namespace: string | undefined): readonly Source[] =>
  namespace === undefined
    ? [{ kind: TTLPolicy as Kind }, { kind: ClusterTTLPolicy as Kind }]
    : [{ kind: TTLPolicy as Kind, namespace }];

export const isPolicyKind = ({ group, resource }: Kind): boolean =>
  group === TTLPolicy.group && (resource === TTLPolicy.resource || resource === ClusterTTLPolicy.resource);
