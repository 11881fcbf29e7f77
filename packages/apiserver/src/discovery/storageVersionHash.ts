// The hash in discovery that tells the storage version migrator that the storage version changed.

import { createHash } from 'node:crypto';
import type { GroupVersionKind } from '@lapse/kube/api/object';

/** Computed from the stored version, for every served version. */
export function storageVersionHash({ group, version, kind }: GroupVersionKind): string {
  const digest = createHash('sha256').update(`${group}/${version}/${kind}`).digest();
  return digest.subarray(0, 8).toString('base64');
}
