// Detects a release that is installed without a record in Secrets or ConfigMaps: Helm's SQL storage driver keeps the
// records in a database. Nothing is deleted then, because no record says what belongs to the release.

import { type Kind, metadataOf } from '@lapse/kube/api/kind';
import { ConfigMap, Secret } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { type AuthorizedClient, selectorOf } from '#authors/authorizedClient';
import { asksToStay } from './manifest.ts';
import { isOwnedBy, ownershipOf, type ReleaseKey } from './ownership.ts';

const MOST_LISTED = 2000;

/** Objects that may show that the release is installed. */
export interface Candidates {
  readonly kind: Kind;
  readonly objects: readonly KubeObject[];
}

/** Kinds in which an unrecorded release is searched. The search for its records required the rights to list them. */
export const SEARCHED: readonly Kind[] = [ConfigMap, Secret];

/** Selects the objects that any release may own. */
export const ownedSelector = (release: ReleaseKey): string => selectorOf(ownershipOf(release).labels);

/** Returns why a release without a record is not treated as uninstalled, or undefined. */
export async function findUnrecorded(
  client: AuthorizedClient,
  release: ReleaseKey,
  targets: readonly Candidates[],
): Promise<string | undefined> {
  const known = describeUnrecorded(release, targets);
  if (known !== undefined) return known;
  for (const kind of SEARCHED) {
    const read = await client.list(metadataOf(kind) as Kind, {
      namespace: release.namespace,
      labelSelector: ownedSelector(release),
      most: MOST_LISTED,
    });
    const found = describeUnrecorded(release, [{ kind, objects: read.kind === 'read' ? read.value : [] }]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The message about the first object that belongs to the release, or undefined. */
export function describeUnrecorded(
  release: ReleaseKey,
  candidates: readonly Candidates[],
): string | undefined {
  for (const { kind, objects } of candidates) {
    const object = objects.find((one) => isSign(one, release));
    if (object === undefined) continue;
    const { name, namespace } = release;
    return `${kind.kind} ${object.metadata.name} belongs to release ${name}, which has no record in Secrets or ConfigMaps; Helm's SQL storage driver is not supported; run: helm uninstall ${name} -n ${namespace}`;
  }
  return undefined;
}

/** Objects that `helm uninstall` keeps, and terminating objects, may outlive the records of every driver. */
const isSign = (object: KubeObject, release: ReleaseKey): boolean =>
  isOwnedBy(object, release) &&
  object.metadata.deletionTimestamp === undefined &&
  !asksToStay(object.metadata.annotations);
