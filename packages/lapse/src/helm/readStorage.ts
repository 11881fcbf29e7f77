// Reads Helm's records of a release with the rights of the actor, and compares them with a decision that was made
// earlier.

import { type Kind, metadataOf } from '@lapse/kube/api/kind';
import { ConfigMap, Secret } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import type { RecordedRelease } from '#api/cleaner';
import type { AuthorizedClient, Read } from '#authors/authorizedClient';
import type { ReleaseKey } from './ownership.ts';
import { type Driver, readStored, type Stored, storageSelector } from './storage.ts';

/** Limit of revisions in a record. Real releases have far fewer. */
export const MOST_REVISIONS = 1000;

export const DRIVERS: readonly Driver[] = ['secret', 'configmap'];
export const STORAGE: Readonly<Record<Driver, Kind>> = { secret: Secret, configmap: ConfigMap };

const listOptions = ({ namespace, name }: ReleaseKey) => ({
  namespace,
  labelSelector: storageSelector(name),
  most: MOST_REVISIONS,
});

/** Helm's records of a release: in Secrets or, if no Secret exists, in ConfigMaps. */
export async function readStorage(
  client: AuthorizedClient,
  release: ReleaseKey,
  drivers: readonly Driver[] = DRIVERS,
): Promise<Read<Stored[]>> {
  const refusals: string[] = [];
  for (const driver of drivers) {
    const kind = STORAGE[driver];
    const refusal = await client.refusalTo('list', kind, { namespace: release.namespace });
    if (refusal !== undefined) {
      refusals.push(refusal);
      continue;
    }
    const read = await client.list<KubeObject>(kind, listOptions(release));
    if (read.kind === 'forbidden') refusals.push(read.why);
    if (read.kind === 'notServed') return read;
    const records = read.kind === 'read' ? read.value : [];
    const found = records.flatMap((object) => readStored(object, driver, release.name) ?? []);
    if (found.length > 0) return { kind: 'read', value: found };
  }
  // If one of the two places cannot be read, a release that is not in the other is not known to be absent.
  const [refusal] = refusals;
  return refusal === undefined ? { kind: 'read', value: [] } : { kind: 'forbidden', why: refusal };
}

const driverOf = ({ storage }: RecordedRelease): Driver => storage[0]?.driver ?? 'secret';

/** The records of a release that was decided about, read only from the place where they were. */
export const readRecorded = (
  client: AuthorizedClient,
  namespace: string,
  record: RecordedRelease,
): Promise<Read<Stored[]>> => readStorage(client, { namespace, name: record.release }, [driverOf(record)]);

/** Whether some of the recorded revisions are no longer stored. False if they cannot be read. */
export async function isPurgeBegun(
  client: AuthorizedClient,
  namespace: string,
  record: RecordedRelease,
): Promise<boolean> {
  const storage = await readRecorded(client, namespace, record);
  if (storage.kind !== 'read') return false;
  const uids = new Set(storage.value.map(({ uid }) => uid));
  return record.storage.some(({ uid }) => !uids.has(uid));
}

/** The recorded revisions that are still stored (empty if none is left), or why the release must be kept. */
export function compareWithRecord(storage: readonly Stored[], record: RecordedRelease): Stored[] | string {
  const uids = new Set(record.storage.map(({ uid }) => uid));
  const ours = storage.filter(({ uid }) => uids.has(uid));
  // The newest revision is purged last. If none of the recorded ones is left the uninstall is complete, even if a new
  // release has the name.
  if (ours.length === 0) return [];
  const newer = storage.find(({ uid }) => !uids.has(uid));
  if (newer !== undefined)
    return `revision ${newer.revision} appeared while revision ${record.revision} was being uninstalled`;
  if (!ours.some(({ revision }) => revision === record.revision))
    return `the record of revision ${record.revision} disappeared before those of older revisions`;
  return ours;
}

/**
 * Returns why no more of the release may be deleted, or undefined: a newer revision exists. Called before every
 * deletion, so it lists metadata only. A possible revision is then read in full.
 */
export async function findNewer(
  client: AuthorizedClient,
  namespace: string,
  record: RecordedRelease,
): Promise<Read<string | undefined>> {
  const kind = metadataOf(STORAGE[driverOf(record)]) as Kind;
  const seen = await client.list<KubeObject>(kind, listOptions({ namespace, name: record.release }));
  if (seen.kind !== 'read') return seen;
  const uids = new Set(record.storage.map(({ uid }) => uid));
  if (seen.value.every(({ metadata }) => uids.has(metadata.uid ?? '')))
    return { kind: 'read', value: undefined };
  const read = await readRecorded(client, namespace, record);
  if (read.kind !== 'read') return read;
  const ours = compareWithRecord(read.value, record);
  if (typeof ours === 'string') return { kind: 'read', value: ours };
  const installed = ours.length === 0 && read.value.length > 0;
  return { kind: 'read', value: installed ? 'it was installed anew' : undefined };
}
