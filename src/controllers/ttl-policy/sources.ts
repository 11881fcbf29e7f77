// What is watched beside policies and targets, while some policy needs it: labels of namespaces, and the coming of kinds.
// Of both, metadata is enough.

import { type Kind, metadataOf } from '#api/kind';
import { CustomResourceDefinition, Namespace } from '#api/kinds/builtin';
import type { KubeObject } from '#api/object';
import type { Projection, Source } from '#runtime/source';

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
