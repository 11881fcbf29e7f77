// The versions of objects that are in the trash, from a history.

import type { KubeObject } from '@lapse/kube/api/object';
import type { Change } from '@lapse/simulation/history';
import { decodeRecords } from 'lapse/trash/chunk';
import { chunkInfoOf, TRASH_TYPE } from 'lapse/trash/secretStore';

/** `uid@resourceVersion` of each saved object, and the index of the change that first stored it. */
export function savedVersions(changes: readonly Change[]): ReadonlyMap<string, number> {
  const saved = new Map<string, number>();
  for (const [index, { resource, before, after }] of changes.entries()) {
    if (resource !== 'secrets' || before !== undefined || after?.type !== TRASH_TYPE) continue;
    for (const version of versionsIn(after)) if (!saved.has(version)) saved.set(version, index);
  }
  return saved;
}

function versionsIn(secret: KubeObject): string[] {
  const [data = ''] = Object.values(secret.data as Record<string, string>);
  const decoded = decodeRecords({ ...chunkInfoOf(secret), data });
  if (decoded.kind === 'damaged') throw new Error(`${secret.metadata.name}: ${decoded.why}`);
  return decoded.records.map(({ object: { metadata } }) => `${metadata.uid}@${metadata.resourceVersion}`);
}
