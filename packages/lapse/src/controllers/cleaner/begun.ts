// Determines whether a recorded decision has led to a deletion. The record notes the first deletion. A deletion just
// before a crash may not be noted, so a missing target counts too.

import type { DeletionRecord } from '#api/cleaner';
import { type AuthorizedClient, getMetadata } from './authorizedClient.ts';
import { readRecorded } from './helmStorage.ts';
import { kindOf } from './record.ts';

export async function hasBegun(record: DeletionRecord, authorized: AuthorizedClient): Promise<boolean> {
  if (record.startedAt !== undefined) return true;
  for (const target of record.targets) {
    const read = await getMetadata(authorized, kindOf(target), target.name);
    if (read.kind !== 'read') continue;
    const { uid, deletionTimestamp } = read.value?.metadata ?? {};
    if (uid !== target.uid || deletionTimestamp !== undefined) return true;
  }
  if (record.helm === undefined) return false;
  const storage = await readRecorded(authorized, record.helm);
  if (storage.kind !== 'read') return false;
  const uids = new Set(storage.value.map(({ uid }) => uid));
  return record.helm.storage.some(({ uid }) => !uids.has(uid));
}
