// Determines whether a live object belongs to a release. Only the labels and annotations that Helm sets at installation
// count, not the manifest.

import type { KubeObject } from '@lapse/kube/api/object';

const MANAGED_BY = 'app.kubernetes.io/managed-by';
const RELEASE_NAME = 'meta.helm.sh/release-name';
const RELEASE_NAMESPACE = 'meta.helm.sh/release-namespace';

export interface ReleaseKey {
  readonly name: string;
  readonly namespace: string;
}

const own = (from: Readonly<Record<string, string>> | undefined, key: string): string | undefined =>
  from !== undefined && Object.hasOwn(from, key) ? from[key] : undefined;

export const isOwnedBy = ({ metadata }: KubeObject, { name, namespace }: ReleaseKey): boolean =>
  own(metadata.labels, MANAGED_BY) === 'Helm' &&
  own(metadata.annotations, RELEASE_NAME) === name &&
  own(metadata.annotations, RELEASE_NAMESPACE) === namespace;

/** The metadata that Helm sets on the objects of a release; for hooks and tests. */
export const ownershipOf = ({ name, namespace }: ReleaseKey) => ({
  labels: { [MANAGED_BY]: 'Helm' },
  annotations: { [RELEASE_NAME]: name, [RELEASE_NAMESPACE]: namespace },
});
