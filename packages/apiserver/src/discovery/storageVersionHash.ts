// The hash by which discovery tells clients (the storage version migrator) that the stored version changed.

import { createHash } from 'node:crypto';
import type { GroupVersionKind } from '@lapse/kube/api/object';

/** Of the version that is stored, whichever version is being described. */
export function storageVersionHash({ group, version, kind }: GroupVersionKind): string {
  const digest = createHash('sha256').update(`${group}/${version}/${kind}`).digest();
  return digest.subarray(0, 8).toString('base64');
}
