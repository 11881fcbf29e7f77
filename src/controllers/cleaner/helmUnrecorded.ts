// Signs of a release that is installed and has no record in Secrets or ConfigMaps: Helm's SQL storage driver keeps the
// records in a database. Nothing is deleted then, because no record says what belongs to the release.

import { type Kind, metadataOf } from '#api/kind';
import { ConfigMap, Secret } from '#api/kinds/builtin';
import type { KubeObject } from '#api/object';
import { asksToStay } from '#helm/manifest';
import { isOwnedBy, ownershipOf, type ReleaseKey } from '#helm/ownership';
import { type Hands, listObjects, selectorOf } from './hands.ts';
import type { Found } from './snapshot.ts';

const MOST_LISTED = 2000;

/** Why a release without a record is not treated as uninstalled, if so. */
export async function findUnrecorded(
  hands: Hands,
  name: string,
  found: readonly Found[],
): Promise<string | undefined> {
  const release = { name, namespace: hands.namespace };
  for (const { kind, objects } of found) {
    const sign = findSign(objects, release);
    if (sign !== undefined) return describe(release, kind, sign);
  }
  // The rights to list these were needed to look for records.
  for (const kind of [ConfigMap, Secret] as readonly Kind[]) {
    const { labels } = ownershipOf(release);
    const read = await listObjects(hands, metadataOf(kind) as Kind, selectorOf(labels), MOST_LISTED);
    const sign = read.kind === 'read' ? findSign(read.value, release) : undefined;
    if (sign !== undefined) return describe(release, kind, sign);
  }
  return undefined;
}

/** Objects that `helm uninstall` leaves, or that are being deleted, may outlive the records of any driver. */
const findSign = (objects: readonly KubeObject[], release: ReleaseKey): KubeObject | undefined =>
  objects.find(
    (object) =>
      isOwnedBy(object, release) &&
      object.metadata.deletionTimestamp === undefined &&
      !asksToStay(object.metadata.annotations),
  );

const describe = (release: ReleaseKey, { kind }: Pick<Kind, 'kind'>, { metadata }: KubeObject): string =>
  `${kind} ${metadata.name} belongs to release ${release.name}, which has no record in Secrets or ConfigMaps; Helm's SQL storage driver is not supported; run: helm uninstall ${release.name} -n ${release.namespace}`;
