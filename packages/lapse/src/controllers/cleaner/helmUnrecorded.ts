// Detects a release that is installed without a record in Secrets or ConfigMaps: Helm's SQL storage driver keeps the
// records in a database. Nothing is deleted then, because no record says what belongs to the release.

import { type Kind, metadataOf } from '@lapse/kube/api/kind';
import { ConfigMap, Secret } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { asksToStay } from '#helm/manifest';
import { isOwnedBy, ownershipOf, type ReleaseKey } from '#helm/ownership';
import { type AuthorizedClient, listObjects, selectorOf } from './authorizedClient.ts';
import type { Found } from './snapshot.ts';

const MOST_LISTED = 2000;

type List = (kind: Kind, labelSelector: string) => Promise<readonly KubeObject[]>;

/** For `findUnrecorded`: lists metadata only, with the rights of the actor. */
export const listWith =
  (authorized: AuthorizedClient): List =>
  async (kind, labelSelector) => {
    const read = await listObjects(authorized, metadataOf(kind) as Kind, labelSelector, MOST_LISTED);
    return read.kind === 'read' ? read.value : [];
  };

/** Returns why a release without a record is not treated as uninstalled, or undefined. */
export async function findUnrecorded(
  release: ReleaseKey,
  found: readonly Found[],
  list: List,
): Promise<string | undefined> {
  for (const { kind, objects } of found) {
    const sign = findSign(objects, release);
    if (sign !== undefined) return describe(release, kind, sign);
  }
  // The search for records already required the rights to list these.
  for (const kind of [ConfigMap, Secret] as readonly Kind[]) {
    const { labels } = ownershipOf(release);
    const sign = findSign(await list(kind, selectorOf(labels)), release);
    if (sign !== undefined) return describe(release, kind, sign);
  }
  return undefined;
}

/** Objects that `helm uninstall` keeps, and terminating objects, may outlive the records of every driver. */
const findSign = (objects: readonly KubeObject[], release: ReleaseKey): KubeObject | undefined =>
  objects.find(
    (object) =>
      isOwnedBy(object, release) &&
      object.metadata.deletionTimestamp === undefined &&
      !asksToStay(object.metadata.annotations),
  );

const describe = (release: ReleaseKey, { kind }: Pick<Kind, 'kind'>, { metadata }: KubeObject): string =>
  `${kind} ${metadata.name} belongs to release ${release.name}, which has no record in Secrets or ConfigMaps; Helm's SQL storage driver is not supported; run: helm uninstall ${release.name} -n ${release.namespace}`;
